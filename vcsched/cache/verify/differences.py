"""How kept and recomputed values are compared, and how a difference is told.

Amounts are whole numbers within the range where floats are exact, so sums are compared exactly, whatever
the order in which they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

from vcsched.columns.table import Table

MOST_SHOWN = 5


class Inconsistent(AssertionError):
    """Something kept is not what the objects say; the text names table, object, column and both values."""


def same(who: str, what: str, kept: object, recomputed: object) -> None:
    """Raise unless both are equal."""
    if kept != recomputed:
        raise Inconsistent(f"{who}: {what}: kept {kept}, recomputed {recomputed}")


def same_objects(who: str, what: str, kept: Mapping[str, Any], recomputed: Mapping[str, Any]) -> None:
    """Raise unless both hold the very same objects under the same keys, in whatever order."""
    surplus = [key for key, value in kept.items() if recomputed.get(key) is not value]
    missing = [key for key, value in recomputed.items() if kept.get(key) is not value]
    if surplus or missing:
        raise Inconsistent(f"{who}: {what}: kept but not recomputed {_few(surplus)}, the other way {_few(missing)}")


def _few(keys: Collection[str]) -> str:
    shown = ", ".join(sorted(keys)[:MOST_SHOWN])
    return f"[{shown}, …]" if len(keys) > MOST_SHOWN else f"[{shown}]"


class Recomputed:
    """The columns of a table, filled anew from nothing. `label(row)` names the object of a row."""

    def __init__(self, table: Table, label: Callable[[int], str]) -> None:
        self._table = table
        self._label = label
        self._columns: dict[str, Any] = {
            name: np.zeros_like(getattr(table, name)) for name in (*table.AMOUNTS, *table.NUMBERS)
        }

    def __getitem__(self, name: str) -> Any:
        """The fresh array of a column, to be written."""
        return self._columns[name]

    def add(self, name: str, row: int, amounts: Iterable[tuple[int, float]]) -> None:
        """Add (resource column, amount) pairs to a row."""
        column = self._columns[name]
        for resource, amount in amounts:
            column[resource, row] += amount

    def compare(self) -> None:
        """Raise for the first cell that differs; rows that nobody has must be zero."""
        for name, fresh in self._columns.items():
            kept = getattr(self._table, name)
            if not np.array_equal(kept, fresh):
                self._tell(name, kept, fresh)

    def _tell(self, name: str, kept: Any, fresh: Any) -> None:
        where = tuple(int(i) for i in np.argwhere(kept != fresh)[0])
        resource = f"[{self._table.space.names[where[0]]}]" if len(where) == 2 else ""
        same(self._label(where[-1]), name + resource, kept[where].item(), fresh[where].item())
