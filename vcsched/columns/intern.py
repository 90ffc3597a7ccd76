"""Interned attribute columns: a small number of distinct values, an id per row.

A question about an attribute ("does the label match?", "are the taints tolerated?") is asked once per
distinct value and gathered onto the rows, so a rule over 5,000 nodes costs as many calls as there are
different values, and one `take`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from vcsched.columns.table import BoolArray, FloatArray

V = TypeVar("V", bound=Hashable)


class InternColumn(Generic[V]):
    """`ids[row]` indexes `values`; both only grow. The caller sets rows; readers ask `where` and `map`."""

    __slots__ = ("_index", "ids", "values")

    def __init__(self, capacity: int) -> None:
        self.values: list[V] = []
        self._index: dict[V, int] = {}
        self.ids: npt.NDArray[np.int32] = np.zeros(capacity, dtype=np.int32)

    def intern(self, value: V) -> int:
        """The id of a value, given when it is new."""
        found = self._index.get(value)
        if found is None:
            found = self._index[value] = len(self.values)
            self.values.append(value)
        return found

    def set(self, row: int, value: V) -> None:
        if row >= len(self.ids):
            longer = np.zeros(max(row + 1, 2 * len(self.ids)), dtype=np.int32)
            longer[: len(self.ids)] = self.ids
            self.ids = longer
        self.ids[row] = self.intern(value)

    def keep_rows(self, rows: npt.NDArray[np.intp]) -> None:
        """Keep only these rows and renumber them 0, 1, …"""
        kept = np.zeros_like(self.ids)
        kept[: len(rows)] = self.ids[rows]
        self.ids = kept

    def select(self, rows: Any) -> InternView[V]:
        """The column restricted to `rows` (a slice or an index array)."""
        return InternView(self.values, self.ids[rows])


class InternView(Generic[V]):
    """Some rows of an interned column."""

    __slots__ = ("ids", "values")

    def __init__(self, values: list[V], ids: npt.NDArray[np.int32]) -> None:
        self.values = values
        self.ids = ids

    def where(self, test: Callable[[V], bool]) -> BoolArray:
        """bool per row: `test` of the row's value, called once per distinct value."""
        return np.fromiter((test(v) for v in self.values), dtype=np.bool_, count=len(self.values))[self.ids]

    def map(self, function: Callable[[V], float]) -> FloatArray:
        """float64 per row: `function` of the row's value, called once per distinct value."""
        return np.fromiter((function(v) for v in self.values), dtype=np.float64, count=len(self.values))[self.ids]
