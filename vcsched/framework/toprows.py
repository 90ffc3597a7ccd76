"""Top rows: which row is best now, kept at the price of one dictionary hit a placement.

While like pods are placed nothing else is asked, and a placement changes the value of one row. That value is a
formula over a few cells of the row, so it is remembered by them (see `framework.memo`); the columns of the
single filters and scores are brought up to date only when somebody reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from vcsched.columns.best import NEVER, BestRows
from vcsched.columns.table import FloatArray, cells
from vcsched.framework.memo import cells_of

if TYPE_CHECKING:
    from vcsched.columns.table import Cells
    from vcsched.framework.memo import Footprint
    from vcsched.framework.plugin import Ask, World

UNKNOWN = -1
_OF_THE_NODE = ("alloc", "view_alloc")  # change with the node object only
_LIMIT = 8_000  # values that are remembered for a shape; bounds the memory of odd clusters


class Judge(Protocol):
    """Who knows the value of a row."""

    def kind(self, row: int) -> tuple[Any, ...]:
        """All that the value depends on beside the cells of the footprint."""

    def value(self, ask: Ask, row: int) -> float:
        """The value of a row now."""


class TopRows:
    """`values` (float64[n]) is the total where the task fits what is idle, else NEVER; `count` rows have one."""

    __slots__ = (
        "_answers",
        "_cells",
        "_fixed",
        "_kind_of",
        "_kinds",
        "_seen",
        "best",
        "cells",
        "count",
        "footprint",
        "values",
    )

    def __init__(self) -> None:
        self.best = BestRows()
        self.footprint: Footprint | None = None  # the cells that a value is a formula of; None: not known
        self._answers: dict[tuple[float, ...], float] = {}
        self._kind_of: dict[tuple[Any, ...], int] = {}
        self._seen: Cells | None = None
        self.set(np.zeros(0))

    def set(self, values: FloatArray) -> None:
        """Values of all rows, found anew."""
        self.values = values
        self.cells: memoryview[float] = cells(values)
        self.count = int(np.count_nonzero(values != NEVER))
        self.best.stale = True
        self._seen = None

    def put(self, row: int, value: float) -> None:
        """The value of one row."""
        before = self.cells[row]
        if value != before:
            self.cells[row] = value
            self.count += (value != NEVER) - (before != NEVER)
            self.best.change(row, before, value)

    def pick(self, chance: Callable[[int], int]) -> int:
        """A row of the highest value, by `chance(number of equals)`; -1 if there is none."""
        return self.best.pick(self.values, chance)

    def move(self, world: World, rows: Iterable[int], judge: Judge, ask: Ask) -> None:
        """The room of these rows changed. The judge is asked where no row that looked the same was met before."""
        if self._seen is not world.nodes.idle_cells:
            self._look(world)
        noted, answers = self._cells, self._answers
        for row in rows:
            key = tuple([column[row] for column in noted])
            if key[0] == UNKNOWN:
                key = (self._find_kind(row, judge), *key[1:])
            now = answers.get(key)
            if now is None:
                now = judge.value(ask, row)
                if len(answers) >= _LIMIT:
                    answers.clear()
                answers[key] = now
            if now != self.cells[row]:
                self.put(row, now)

    def _look(self, world: World) -> None:
        """Find the cells: tables are replaced when they grow, and kinds are known until values are found anew."""
        assert self.footprint is not None
        if len(self._kind_of) > _LIMIT:
            self._kind_of.clear()
            self._answers.clear()
        table = world.nodes
        self._kinds: memoryview[int] = cells(np.full(len(self.values), UNKNOWN, dtype=np.int64))
        self._cells: list[Any] = [
            self._kinds,
            *cells_of(table, [place for place in self.footprint if place[0] not in _OF_THE_NODE]),
        ]
        self._fixed = cells_of(table, [place for place in self.footprint if place[0] in _OF_THE_NODE])
        self._seen = table.idle_cells

    def _find_kind(self, row: int, judge: Judge) -> int:
        what = (*judge.kind(row), *[column[row] for column in self._fixed])
        number = self._kinds[row] = self._kind_of.setdefault(what, len(self._kind_of))
        return number
