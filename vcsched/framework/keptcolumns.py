"""Kept columns: what one filter or one score says about every node for one shape.

A column is computed for all rows at once and repaired for the rows that changed (design-notes §2.4-2.5).
`RoomFunctions` repairs the row that a placement changed, on floats, and asks nothing twice that it has
asked before about a row that looked the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vcsched.columns.table import BoolArray, FloatArray, IntArray, cells
from vcsched.framework.lift import lifted_filter, lifted_score
from vcsched.framework.memo import Footprint, NotingNode, RoomMemo
from vcsched.framework.plugin import Ask, Nodes, OneNode, OneVerdict, Verdict, reason_number
from vcsched.framework.points import Filter, Score

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture


class FilterColumn:
    """The kept answer of one filter for one shape: uint8[n] codes, uint8[n] reason numbers."""

    __slots__ = ("code_cells", "codes", "filter", "reason_cells", "reasons", "texts", "vector", "version")

    def __init__(self, rule: Filter) -> None:
        self.filter = rule
        self.vector: Callable[[Ask, Nodes, Any], None] = rule.vector or lifted_filter(rule.scalar)
        self.texts: list[str] = []
        self.version: Any = None
        self._set(np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.uint8))

    def _set(self, codes: npt.NDArray[np.uint8], reasons: npt.NDArray[np.uint8]) -> None:
        self.codes, self.reasons = codes, reasons
        self.code_cells, self.reason_cells = cells(codes), cells(reasons)

    def compute(self, ask: Ask, nodes: Nodes) -> None:
        """Ask for all rows."""
        verdict = Verdict(nodes.k, self.texts)
        self.vector(ask, nodes, verdict)
        self._set(verdict.codes, verdict.reasons)

    def repair(self, ask: Ask, picture: Picture, rows: IntArray) -> None:
        """Ask for some rows, as arrays."""
        verdict = Verdict(len(rows), self.texts)
        self.vector(ask, Nodes(picture, rows, len(rows)), verdict)
        self.codes[rows], self.reasons[rows] = verdict.codes, verdict.reasons

    def at(self, ask: Ask, one: OneNode) -> tuple[int, int]:
        """(code, reason number) of one row, asked on floats."""
        verdict = OneVerdict()
        self.vector(ask, one, verdict)
        return (verdict.code, reason_number(self.texts, verdict.reason)) if verdict.code else (0, 0)


class ScoreColumn:
    """The kept values of one score for one shape: float64[n], raw if the score is normalised."""

    __slots__ = ("batch", "cells", "constant", "score", "values", "vector", "version")

    def __init__(self, rule: Score, batch: bool) -> None:
        self.score = rule
        self.batch = batch
        self.vector: Callable[[Ask, Nodes], Any] = rule.vector or lifted_score(rule.scalar, batch)
        self.set(np.zeros(0))
        self.constant: float | None = None  # a normalised score whose raw values are all equal: its value
        self.version: Any = None

    def set(self, values: FloatArray) -> None:
        self.values = values
        self.cells: memoryview[float] = cells(values)

    def compute(self, ask: Ask, nodes: Nodes, alive: BoolArray) -> None:
        """Ask for all rows."""
        values = np.array(self.vector(ask, nodes), dtype=np.float64)  # a copy: the answer may be a table's column
        if self.score.version is not None:
            self.version = self.score.version(ask)
        self.set(values if values.shape == (nodes.k,) else np.full(nodes.k, values))
        self.settle(ask, alive)

    def settle(self, ask: Ask, alive: BoolArray) -> None:
        """A normalised score whose raw values are equal everywhere gives every candidate set the same."""
        normalise = self.score.normalise
        if normalise is None:
            return
        raw = self.values[alive]
        flat = raw.size == 0 or raw.min() == raw.max()
        self.constant = float(normalise(ask, raw[:1])[0]) if flat and raw.size else (0.0 if flat else None)

    def contribution(self, row: int) -> float:
        """What a kept score adds for one row; a normalised one adds its constant, if it has one."""
        if self.score.normalise is None:
            return self.cells[row]
        return self.constant or 0.0


class RoomFunctions:
    """The filters and scores of a shape that read the room of a row."""

    def __init__(self, picture: Picture, filters: list[FilterColumn], scores: list[ScoreColumn]) -> None:
        self._picture = picture
        self.filters = filters
        self.scores = scores
        self._memo = RoomMemo()
        self._plain_filters: list[FilterColumn] = []  # read cells only, so that their answers are kept by cells
        self._plain_scores: list[ScoreColumn] = []
        self._odd_filters: list[FilterColumn] = []
        self._odd_scores: list[ScoreColumn] = []

    def repair(self, ask: Ask, row: int) -> None:
        """Bring all columns up to date for one row."""
        memo = self._memo
        if not memo.is_noted:
            self._note(ask, row)
        key = memo.key(self._picture, row)
        answer = memo.answers.get(key)
        if answer is None:
            one = OneNode(self._picture, row)
            answer = (
                [c.at(ask, one) for c in self._plain_filters],
                [float(s.vector(ask, one)) for s in self._plain_scores],
            )
            memo.keep(key, answer)
        verdicts, values = answer
        for column, (code, reason) in zip(self._plain_filters, verdicts, strict=True):
            column.code_cells[row] = code
            column.reason_cells[row] = reason
        for score, value in zip(self._plain_scores, values, strict=True):
            score.cells[row] = value
        if self._odd_filters or self._odd_scores:
            one = OneNode(self._picture, row)
            for column in self._odd_filters:
                column.code_cells[row], column.reason_cells[row] = column.at(ask, one)
            for score in self._odd_scores:
                score.cells[row] = float(score.vector(ask, one))

    @property
    def has_odd(self) -> bool:
        """Whether some function is known to read more than cells."""
        return bool(self._odd_filters or self._odd_scores)

    def footprint(self, ask: Ask, row: int) -> Footprint | None:
        """The cells that the functions read; None if some function reads more than cells."""
        if not self._memo.is_noted:
            self._note(ask, row)
        return None if self.has_odd else self._memo.footprint

    def _note(self, ask: Ask, row: int) -> None:
        """Find out which functions read nothing but cells, and which cells."""
        read: set[tuple[str, int]] = set()
        for column in self.filters:
            noting = NotingNode(self._picture, row)
            column.at(ask, noting)
            (self._plain_filters if noting.only_cells else self._odd_filters).append(column)
            read |= noting.read if noting.only_cells else set()
        for score in self.scores:
            noting = NotingNode(self._picture, row)
            score.vector(ask, noting)
            (self._plain_scores if noting.only_cells else self._odd_scores).append(score)
            read |= noting.read if noting.only_cells else set()
        self._memo.note(read)
