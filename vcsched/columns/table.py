"""A table: numpy columns that grow, one row an object.

Amounts are `float64[width, capacity]` and stay integral in the resource's unit, so sums are exact. Numbers are
one-dimensional columns. For single cells each column also has memoryviews (`<name>_cells`), which read a cell in
0.04 µs against 0.14 µs through numpy. Arrays and memoryviews are replaced when a table grows, so nobody keeps
one across a growth: always ask the table (design-notes §2.2).

All float columns lie in one block, so that a row of it is one array: what a placement adds to thirty cells is
one addition of a vector, at the price of two cells (`rows`, `vector`). Columns lie together where all rows are
read at once, as of nodes; `BY_ROW`, for tables of many rows that are read one by one, lays each row together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from vcsched.columns.space import Space

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Cells = list["memoryview[float]"]  # one memoryview per resource column


def cells(array: Any) -> Any:
    """A memoryview of a one-dimensional array: single cells at a third of numpy's price."""
    return memoryview(array)


Dtype = type[Any] | str
PAD = 8  # rows of a block do not start a power of two apart, or the cells of one table row would share a cache line set


class Table:
    """Rows `0..n-1` have been given out; a freed row waits in the free list unless `ordered`.

    Subclasses name their columns: `AMOUNTS` (one float64 per resource) and `NUMBERS` (name -> dtype).
    """

    AMOUNTS: ClassVar[tuple[str, ...]] = ()
    NUMBERS: ClassVar[Mapping[str, Dtype]] = {}
    BY_ROW: ClassVar[bool] = False

    def __init__(self, space: Space, *, capacity: int = 64, ordered: bool = False) -> None:
        self.space = space
        self.capacity = capacity
        self.ordered = ordered
        self.n = 0
        self._free: list[int] = []
        self._floats = tuple(name for name, dtype in self.NUMBERS.items() if dtype is np.float64)
        self._others = tuple(name for name in self.NUMBERS if name not in self._floats)
        for name in self._others:
            self._set(name, np.zeros(capacity, dtype=self.NUMBERS[name]))
        self._lay_out(self._new_block(space.width, capacity), space.width)
        space.on_growth(self._widen)

    @property
    def in_use(self) -> int:
        """Rows that somebody has; in an ordered table tombstones count too."""
        return self.n - len(self._free)

    def new_row(self) -> int:
        """A zeroed row. In an ordered table rows are append-only, so row order is first-seen order."""
        if self._free:
            return self._free.pop()
        if self.n == self.capacity:
            self._lengthen(self.capacity * 2)
        row = self.n
        self.n += 1
        return row

    def free(self, row: int) -> None:
        """Zero a row; it is given out again unless the table is ordered (then it stays a tombstone)."""
        self._block[:, row] = 0.0
        for name in self._others:
            getattr(self, name)[row] = 0
        if not self.ordered:
            self._free.append(row)

    def keep_rows(self, rows: npt.NDArray[np.intp]) -> None:
        """Keep only these rows and renumber them 0, 1, …; for ordered tables, which have no free rows."""
        block = self._new_block(self.space.width, self.capacity)
        block[:, : len(rows)] = self._block[:, rows]
        self._lay_out(block, self.space.width)
        for name in self._others:
            old = getattr(self, name)
            kept = np.zeros_like(old)
            kept[: len(rows)] = old[rows]
            self._set(name, kept)
        self.n = len(rows)

    def amounts_of(self, name: str, row: int) -> dict[str, float]:
        """The non-zero amounts of one row, by resource name, in column order."""
        column = getattr(self, name)[:, row]
        return {self.space.names[c]: float(v) for c, v in enumerate(column) if v}

    @property
    def block(self) -> FloatArray:
        """All float columns, in the order of `rows`; column of the table by row of the table."""
        return self._block

    def vector(self, amounts: Mapping[str, Mapping[int, float]], numbers: Mapping[str, float]) -> FloatArray:
        """What adds these amounts (column name -> resource -> amount) and numbers to a row of `rows`."""
        vector = np.zeros(len(self._block))
        for place, name in enumerate(self.AMOUNTS):
            for column, amount in amounts.get(name, {}).items():
                vector[place * self.space.width + column] = amount
        for place, name in enumerate(self._floats, start=len(self.AMOUNTS) * self.space.width):
            vector[place] = numbers.get(name, 0.0)
        return vector

    def _new_block(self, width: int, capacity: int) -> FloatArray:
        height = len(self.AMOUNTS) * width + len(self._floats)
        if self.BY_ROW:
            return np.zeros((capacity, height)).T
        return np.zeros((height, capacity + PAD))[:, :capacity]

    def _lay_out(self, block: FloatArray, width: int) -> None:
        """Use a block; all that showed the old one is made anew."""
        self._block = block
        self.rows: list[FloatArray] = list(block.T)
        """Each row as one array: the columns of `AMOUNTS` one after the other, then the float numbers."""
        for place, name in enumerate(self.AMOUNTS):
            self._set(name, block[place * width : (place + 1) * width])
        for place, name in enumerate(self._floats, start=len(self.AMOUNTS) * width):
            self._set(name, block[place])

    def _set(self, name: str, array: Any) -> None:
        setattr(self, name, array)
        views: Any = [cells(a) for a in array] if array.ndim == 2 else cells(array)
        setattr(self, name + "_cells", views)

    def _widen(self, width: int) -> None:
        block = self._new_block(width, self.capacity)
        before = width - 1
        for place in range(len(self.AMOUNTS)):
            block[place * width : place * width + before] = self._block[place * before : (place + 1) * before]
        block[len(self.AMOUNTS) * width :] = self._block[len(self.AMOUNTS) * before :]
        self._lay_out(block, width)

    def _lengthen(self, capacity: int) -> None:
        before, self.capacity = self.capacity, capacity
        block = self._new_block(self.space.width, capacity)
        block[:, :before] = self._block
        self._lay_out(block, self.space.width)
        for name in self._others:
            old = getattr(self, name)
            longer = np.zeros(capacity, dtype=old.dtype)
            longer[:before] = old
            self._set(name, longer)
