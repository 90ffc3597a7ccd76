"""What a plugin is, and what its functions are given: the product's most public part.

A plugin is a class with a `name`, made once per configuration load from its arguments. `open(ssn)` runs at
the start of every session and registers functions at extension points (`ssn.job_order.add(self, f)`);
`close(ssn)` ends it. A plugin imports `vcsched.framework` and `vcsched.model`, never another plugin.

Filters and scores come in two forms. The scalar one takes a task and a node, and is the easy way to write
one's own. The vector one takes an `Ask` and `Nodes`, and answers for all rows at once; what it reads
decides how long the answer is kept:

    reads="node"        the node object: labels, taints, images, allocatable
    reads="room"        also room and pods of that one node; runs in both number worlds, so it uses
                        `nodes.maths` and never `if` (see `columns.maths`)
    reads="pods"        pods anywhere in the cluster; kept while `version(ask)` stays the same
    reads="candidates"  (scores) the set of nodes that are being compared; never kept
    reads="any"         anything else; never kept, always right (the default)

A kept answer may depend on the shape and the node, never on the queue or job. What of the pod it reads
beyond the built-in fields must be in `shape_key`, or pods that differ in it share an answer. Answers are
kept over sessions while the same functions are registered, so register methods of the plugin or functions
of the module: a lambda or a partial is a new function each time. What reads the node object and only one
part of the form says so with `shared_by`, and is asked once for all forms that agree in it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from vcsched.columns.intern import InternColumn, InternView
from vcsched.columns.journal import ALLOCATE, EVICT, PIPELINE, Ledger, Op, Refused
from vcsched.columns.maths import ARRAYS, FLOATS, Maths
from vcsched.columns.table import BoolArray, Cells, FloatArray
from vcsched.model.form import Form, Shape
from vcsched.model.node import Node
from vcsched.model.status import ERROR, UNRESOLVABLE, UNSCHEDULABLE, Fit

if TYPE_CHECKING:
    from vcsched.cache.tables import NodeTable
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session
    from vcsched.kube.objects import Pod
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Request, Task

Reads = Literal["node", "room", "pods", "candidates", "any"]

PERMIT, ABSTAIN, REJECT = 1, 0, -1
"""Votes. One Reject ends the vote with no; a tier with a Permit ends it with yes; abstentions ask on."""


F = TypeVar("F", bound=Callable[..., Any])


def shared_by(part: Callable[[Form], Hashable]) -> Callable[[F], F]:
    """Marks a function that `reads="node"`: of the pod it reads this part of the form alone, and forms that agree
    in the part share its kept answer. `part` is a function of the module."""

    def mark(function: F) -> F:
        function.shared_by = part  # type: ignore[attr-defined]
        return function

    return mark


def compare(a: Any, b: Any) -> int:
    """The smaller first, as an order function answers: `compare(due(a), due(b))`."""
    return int(a > b) - int(a < b)


class Plugin:
    """Base of all plugins; override what is needed."""

    name: ClassVar[str] = ""

    def __init__(self, args: Arguments) -> None:
        self.args = args

    def open(self, ssn: Session) -> None:
        """Register functions for this session, in the configured order. Must not loop over all jobs."""

    def close(self, ssn: Session) -> None:
        """The session ends: conditions, metrics. Called in reverse order."""

    def shape_key(self, pod: Pod) -> Hashable:
        """Whatever of the pod, beyond requests, selectors, affinity, tolerations, spread, ports and images,
        this plugin's filters or scores read; pods that differ in it never share an answer."""
        return None


class Ask(NamedTuple):
    """What is being placed. A kept answer may read `shape` only."""

    shape: Shape
    task: Task
    job: Job | None
    queue: Queue | None

    @property
    def form(self) -> Form:
        return self.shape.form

    @property
    def request(self) -> Request:
        """What the pod asks for: `ask.request.get("cpu")`."""
        return self.shape.request


class World(Protocol):
    """What `Nodes` reads from; the cache's picture is one."""

    nodes: NodeTable
    node_at: list[Node | None]

    def label(self, key: str) -> InternColumn[str | None]:
        """The interned column of a node label."""

    def attribute(self, read: Callable[[Node], Any]) -> InternColumn[Any]:
        """The interned column of something read off the node object."""


class Columns:
    """Amounts by resource name over the rows in question: `nodes.idle["cpu"]` is float64[k]; unknown: zeros.

    They are the picture itself and not a copy, hence read-only.
    """

    __slots__ = ("_array", "_index", "_k", "_rows")

    def __init__(self, array: FloatArray, index: dict[str, int], rows: Any, k: int) -> None:
        self._array = array
        self._index = index
        self._rows = rows
        self._k = k

    def __getitem__(self, name: str) -> Any:
        column = self._index.get(name)
        if column is None:
            return np.zeros(self._k)
        amounts = self._array[column][self._rows]
        amounts.flags.writeable = False
        return amounts


class Cell:
    """The same for one row: `nodes.idle["cpu"]` is a float."""

    __slots__ = ("_cells", "_index", "_row")

    def __init__(self, cells: Cells, index: dict[str, int], row: int) -> None:
        self._cells = cells
        self._index = index
        self._row = row

    def __getitem__(self, name: str) -> Any:
        column = self._index.get(name)
        return 0.0 if column is None else self._cells[column][self._row]


class Nodes:
    """Some rows of the node table, as arrays; `OneNode` has the same attributes as floats.

    `rows` is a slice or an index array, `k` the number of rows. Amounts are by resource name, in milli-CPU,
    bytes, or the resource's own unit. `view_*` is what Kubernetes' own filters see (see `cache.tables`).
    """

    maths: Maths = ARRAYS

    def __init__(self, world: World, rows: Any, k: int) -> None:
        self._world = world
        self._table: NodeTable = world.nodes
        self._rows = rows
        self.k = k

    @property
    def world(self) -> World:
        return self._world

    @property
    def table(self) -> NodeTable:
        return self._table

    @property
    def rows(self) -> Any:
        return self._rows

    def _columns(self, array: FloatArray) -> Columns:
        return Columns(array, self._table.space.index, self._rows, self.k)

    @property
    def alloc(self) -> Any:
        return self._columns(self._table.alloc)

    @property
    def used(self) -> Any:
        return self._columns(self._table.used)

    @property
    def idle(self) -> Any:
        return self._columns(self._table.idle)

    @property
    def releasing(self) -> Any:
        return self._columns(self._table.releasing)

    @property
    def future(self) -> Any:
        return self._columns(self._table.future)

    @property
    def view_alloc(self) -> Any:
        return self._columns(self._table.view_alloc)

    @property
    def view_used(self) -> Any:
        return self._columns(self._table.view_used)

    @property
    def view_pods(self) -> Any:
        """Number of pods that count on each node."""
        return self._table.view_pods[self._rows]

    @property
    def view_nonzero_cpu(self) -> Any:
        return self._table.view_nonzero_cpu[self._rows]

    @property
    def view_nonzero_memory(self) -> Any:
        return self._table.view_nonzero_memory[self._rows]

    # -- attributes of the node object (arrays only)

    def label(self, key: str) -> InternView[str | None]:
        """A label: `nodes.label("zone").where(lambda v: v == "a")` is bool[k]; a missing label is None."""
        return self._world.label(key).select(self._rows)

    def attribute(self, read: Any) -> InternView[Any]:
        """`read(node)` for every row, interned; `read` is a module-level function of the node object."""
        return self._world.attribute(read).select(self._rows)

    def objects(self) -> list[Node | None]:
        """The nodes themselves, in row order; None where a node is gone."""
        everything = self._world.node_at
        if isinstance(self._rows, slice):
            return everything[self._rows]
        return [everything[row] for row in self._rows]


class OneNode(Nodes):
    """One row in the float world: amounts are floats, masks are bools."""

    maths: Maths = FLOATS

    def __init__(self, world: World, row: int) -> None:
        super().__init__(world, row, 1)
        self.row = row

    def _cell(self, cells: Cells) -> Cell:
        return Cell(cells, self._table.space.index, self.row)

    @property
    def alloc(self) -> Any:
        return self._cell(self._table.alloc_cells)

    @property
    def used(self) -> Any:
        return self._cell(self._table.used_cells)

    @property
    def idle(self) -> Any:
        return self._cell(self._table.idle_cells)

    @property
    def releasing(self) -> Any:
        return self._cell(self._table.releasing_cells)

    @property
    def future(self) -> Any:
        return self._cell(self._table.future_cells)

    @property
    def view_alloc(self) -> Any:
        return self._cell(self._table.view_alloc_cells)

    @property
    def view_used(self) -> Any:
        return self._cell(self._table.view_used_cells)

    @property
    def view_pods(self) -> Any:
        return self._table.view_pods_cells[self.row]

    @property
    def view_nonzero_cpu(self) -> Any:
        return self._table.view_nonzero_cpu_cells[self.row]

    @property
    def view_nonzero_memory(self) -> Any:
        return self._table.view_nonzero_memory_cells[self.row]

    def objects(self) -> list[Node | None]:
        return [self._world.node_at[self.row]]


class Verdict:
    """Where a vector filter says which rows fail, and why. One reason a row and call: the first one stays."""

    __slots__ = ("codes", "reasons", "texts")

    def __init__(self, k: int, texts: list[str]) -> None:
        self.codes = np.zeros(k, dtype=np.uint8)
        self.reasons = np.zeros(k, dtype=np.uint8)  # index into texts, plus one
        self.texts = texts

    def fail(self, mask: BoolArray, reason: str, code: int = UNSCHEDULABLE) -> None:
        """Rows where `mask` holds (and that have not failed yet) fail with this reason and code."""
        new = mask & (self.codes == 0)
        if new.any():
            self.codes[new] = code
            self.reasons[new] = reason_number(self.texts, reason)


class OneVerdict:
    """The same for one row in the float world."""

    __slots__ = ("code", "reason")

    def __init__(self) -> None:
        self.code = 0
        self.reason = ""

    def fail(self, mask: bool, reason: str, code: int = UNSCHEDULABLE) -> None:
        if mask and not self.code:
            self.code = code
            self.reason = reason


def reason_number(texts: list[str], reason: str) -> int:
    """The number of a reason in a list of texts (from 1), added when it is new; at most 255 a filter."""
    try:
        return texts.index(reason) + 1
    except ValueError:
        if len(texts) == 255:
            return 255
        texts.append(reason)
        return len(texts)


__all__ = [
    "ABSTAIN", "ALLOCATE", "ERROR", "EVICT", "PERMIT", "PIPELINE", "REJECT", "UNRESOLVABLE", "UNSCHEDULABLE",
    "Ask", "Fit", "Form", "Ledger", "Node", "Nodes", "OneNode", "OneVerdict", "Op", "Plugin", "Reads",
    "Refused", "Shape", "Verdict", "compare", "shared_by",
]  # fmt: skip
