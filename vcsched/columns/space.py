"""The resource space: which resource has which column, and in which order resources are named.

Columns 0, 1, 2 are always cpu, memory and pods; further resources get the next free column when they
are first seen, and keep it for the life of the process. Tables that hold amounts register here and grow
with the space (design-notes §2.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

CPU, MEMORY, PODS = 0, 1, 2
FIRST = ("cpu", "memory", "pods")
MOST_ASKED_FOR = 200
"""Columns that may come into being because somebody asks for a resource; every column costs memory in every
table, and anybody may ask for anything. What nodes offer always gets one."""


class Space:
    """Resource name -> column. `names[c]` is the name of column c; `width` the number of columns."""

    def __init__(self) -> None:
        self.names: list[str] = list(FIRST)
        self.index: dict[str, int] = {name: column for column, name in enumerate(FIRST)}
        self._grow: list[Callable[[int], None]] = []

    @property
    def width(self) -> int:
        return len(self.names)

    def column(self, name: str) -> int:
        """The column of a resource, made when it is new."""
        column = self.index.get(name)
        if column is None:
            column = self.index[name] = len(self.names)
            self.names.append(name)
            for grow in self._grow:
                grow(len(self.names))
        return column

    def excess(self, names: Iterable[str]) -> str:
        """The first of these names that has no column and should get none, as there are many already; or ""."""
        if len(self.names) < MOST_ASKED_FOR:
            return ""
        return next((name for name in names if name not in self.index), "")

    def on_growth(self, grow: Callable[[int], None]) -> None:
        """Call `grow(width)` whenever a column is added."""
        self._grow.append(grow)

    def ranked(self, columns: Iterable[int]) -> list[int]:
        """Columns in the order in which resources are named to people: cpu, memory, then by name."""
        return sorted(columns, key=lambda c: (c > MEMORY, self.names[c] if c > MEMORY else "", c))
