"""Room memo: nodes that look alike get the same answer without asking again.

Filters and scores that read "room" are formulas over a few cells of one row. The first time they run, the
cells they read are noted; afterwards a row whose cells hold values seen before takes the answer from a
dictionary. Clusters have few kinds of nodes and jobs few sizes of pods, so most repairs end here: 3 µs
against 30 µs. A function that looks at more than cells (the pods on a node, say) is asked each time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from vcsched.framework.plugin import Cell, OneNode

if TYPE_CHECKING:
    from vcsched.cache.tables import NodeTable
    from vcsched.columns.table import Cells
    from vcsched.framework.plugin import World

_AMOUNTS = ("alloc", "used", "idle", "releasing", "future", "view_alloc", "view_used")
_NUMBERS = ("view_pods", "view_nonzero_cpu", "view_nonzero_memory")

Footprint = tuple[tuple[str, int], ...]
"""(column of the node table, resource column or -1) pairs, in a fixed order."""


def cells_of(table: NodeTable, footprint: Iterable[tuple[str, int]]) -> list[Any]:
    """The columns of a footprint, to be read row by row until the table grows."""
    named = [(getattr(table, name + "_cells"), column) for name, column in footprint]
    return [columns[column] if column >= 0 else columns for columns, column in named]


class NotingNode(OneNode):
    """One row that notes which cells are read, and whether anything else was."""

    def __init__(self, world: World, row: int) -> None:
        super().__init__(world, row)
        self.read: set[tuple[str, int]] = set()
        self.only_cells = True
        self._names = {id(getattr(self.table, name + "_cells")): name for name in _AMOUNTS}

    def _cell(self, cells: Cells) -> Cell:
        return _NotingCell(cells, self, self._names[id(cells)])

    def _number(self, name: str) -> Any:
        self.read.add((name, -1))
        return getattr(self.table, name + "_cells")[self.row]

    @property
    def view_pods(self) -> Any:
        return self._number("view_pods")

    @property
    def view_nonzero_cpu(self) -> Any:
        return self._number("view_nonzero_cpu")

    @property
    def view_nonzero_memory(self) -> Any:
        return self._number("view_nonzero_memory")

    def objects(self) -> Any:
        self.only_cells = False
        return super().objects()

    def label(self, key: str) -> Any:
        self.only_cells = False
        return super().label(key)

    def attribute(self, read: Any) -> Any:
        self.only_cells = False
        return super().attribute(read)


class _NotingCell(Cell):
    __slots__ = ("_name", "_node")

    def __init__(self, cells: Cells, node: NotingNode, name: str) -> None:
        super().__init__(cells, node.table.space.index, node.row)
        self._node = node
        self._name = name

    def __getitem__(self, resource: str) -> Any:
        column = self._node.table.space.index.get(resource)
        if column is not None:
            self._node.read.add((self._name, column))
        return super().__getitem__(resource)


class RoomMemo:
    """Answers by the values of the cells that were read. `limit` bounds the memory of odd clusters."""

    __slots__ = ("_cells", "_grown", "answers", "footprint", "limit")

    def __init__(self, limit: int = 8_000) -> None:
        self.answers: dict[tuple[Any, ...], Any] = {}
        self.limit = limit
        self.footprint: Footprint | None = None
        self._cells: list[Any] = []
        self._grown: tuple[int, int] | None = None

    def note(self, read: set[tuple[str, int]]) -> None:
        """Take over what the functions read on their first row."""
        self.footprint = tuple(sorted(read))
        self._grown = None

    @property
    def is_noted(self) -> bool:
        return self.footprint is not None

    def key(self, world: World, row: int) -> tuple[Any, ...]:
        """The values of the noted cells of a row."""
        table = world.nodes
        grown = (table.capacity, table.space.width)
        if grown != self._grown:
            self._grown = grown
            assert self.footprint is not None
            self._cells = cells_of(table, self.footprint)
        return tuple([cells[row] for cells in self._cells])

    def keep(self, key: tuple[Any, ...], answer: Any) -> None:
        if len(self.answers) >= self.limit:
            self.answers.clear()
        self.answers[key] = answer
