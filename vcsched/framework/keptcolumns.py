"""Kept columns: what one filter or one score says about every node for one shape.

A column is computed for all rows at once and repaired for the rows that changed (design-notes §2.4-2.5).
What reads room is asked once per look of a row (`everylook`) and laid out by row only when somebody reads or
repairs rows. `RoomFunctions` repairs the row that a placement changed, on floats, and asks nothing twice that
it has asked before about a row that looked the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vcsched.columns.looks import Numbers
from vcsched.columns.table import BoolArray, FloatArray, IntArray, cells
from vcsched.framework.everylook import EveryLook, NeedsRows
from vcsched.framework.lift import lifted_filter, lifted_score
from vcsched.framework.memo import Footprint, NotingNode, RoomMemo
from vcsched.framework.plugin import Ask, Nodes, OneNode, OneVerdict, Verdict, reason_number
from vcsched.framework.points import Filter, Score

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture


class FilterColumn:
    """The kept answer of one filter for one shape: uint8[n] codes, uint8[n] reason numbers."""

    __slots__ = ("by_look", "code_cells", "codes", "filter", "reason_cells", "reasons", "texts", "vector", "version")

    def __init__(self, rule: Filter) -> None:
        self.filter = rule
        self.vector: Callable[[Ask, Nodes, Any], None] = rule.vector or lifted_filter(rule.scalar)
        self.texts: list[str] = []
        self.version: Any = None
        self.by_look = False
        self._set(np.zeros(0, dtype=np.uint8), np.zeros(0, dtype=np.uint8))

    def _set(self, codes: npt.NDArray[np.uint8], reasons: npt.NDArray[np.uint8]) -> None:
        self.codes, self.reasons = codes, reasons
        self.code_cells, self.reason_cells = cells(codes), cells(reasons)

    def compute(self, ask: Ask, nodes: Nodes) -> None:
        """Ask for all rows."""
        verdict = Verdict(nodes.k, self.texts)
        self.vector(ask, nodes, verdict)
        self._set(verdict.codes, verdict.reasons)
        self.by_look = False

    def compute_room(self, ask: Ask, looks: EveryLook, nodes: Nodes) -> None:
        """Ask for every look, or for all rows if it takes more than a look to answer."""
        try:
            self.compute(ask, looks)
            self.by_look = True
        except NeedsRows:
            self.compute(ask, nodes)

    def lay_out(self, of: Numbers) -> None:
        """From looks to rows."""
        if self.by_look:
            self.by_look = False
            self._set(self.codes[of], self.reasons[of])

    def compute_live(self, ask: Ask, nodes: Nodes) -> bool:
        """Ask for all rows what nothing but its version tells to be as it was; whether it was asked."""
        version = self.filter.version(ask) if self.filter.version is not None else None
        if version is not None and version == self.version and len(self.codes) == nodes.k:
            return False
        self.compute(ask, nodes)
        self.version = version
        return True

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

    __slots__ = ("batch", "by_look", "cells", "constant", "score", "values", "vector", "version")

    def __init__(self, rule: Score, batch: bool) -> None:
        self.score = rule
        self.batch = batch
        self.vector: Callable[[Ask, Nodes], Any] = rule.vector or lifted_score(rule.scalar, batch)
        self.set(np.zeros(0))
        self.constant: float | None = None  # what it adds to every node alike, if it is known to
        self.version: Any = None
        self.by_look = False

    def set(self, values: FloatArray) -> None:
        self.values = values
        self.cells: memoryview[float] = cells(values)

    def compute(self, ask: Ask, nodes: Nodes, alive: BoolArray) -> None:
        """Ask for all rows."""
        values = np.array(self.vector(ask, nodes), dtype=np.float64)  # a copy: the answer may be a table's column
        if self.score.version is not None:
            self.version = self.score.version(ask)
        self.set(values if values.shape == (nodes.k,) else np.full(nodes.k, values))
        self.by_look = False
        self.settle(ask, alive)

    def compute_room(self, ask: Ask, looks: EveryLook, nodes: Nodes, alive: BoolArray) -> None:
        """Ask for every look, or for all rows if it takes more than a look to answer."""
        try:
            self.compute(ask, looks, looks.living)
            self.by_look = True
        except NeedsRows:
            self.compute(ask, nodes, alive)

    def repair(self, ask: Ask, picture: Picture, rows: IntArray) -> None:
        """Ask for some rows, as arrays."""
        self.values[rows] = self.vector(ask, Nodes(picture, rows, len(rows)))
        self.settle(ask, picture.nodes.alive[: picture.nodes.n])

    def lay_out(self, of: Numbers) -> None:
        """From looks to rows."""
        if self.by_look:
            self.by_look = False
            self.set(self.values[of])

    def is_stale(self, ask: Ask) -> bool:
        """Whether something that the answer depends on beside the node has moved."""
        version = self.score.version
        return version is not None and version(ask) != self.version

    def settle(self, ask: Ask, alive: BoolArray) -> None:
        """Find out whether every set of candidates gets the same: so it is where all (raw) values are equal. Scores
        of room seldom are, and unless they are normalised nothing hangs on it."""
        normalise = self.score.normalise
        if normalise is None and self.score.reads == "room":
            return
        raw = self.values[alive]
        if not raw.size:
            self.constant = 0.0
        elif raw.min() != raw.max():
            self.constant = None
        else:
            self.constant = float(raw[0] if normalise is None else normalise(ask, raw[:1])[0])

    def on_candidates(self, ask: Ask, nodes: Nodes) -> Any:
        """What it says of these rows, compared among each other: float64[k] or, the same for all, a float. Kept
        scores are by row and up to date."""
        rule = self.score
        if rule.reads in ("node", "room"):
            if rule.normalise is None:
                return self.values[nodes.rows]
            return rule.normalise(ask, self.values[nodes.rows]) if self.constant is None else self.constant
        if rule.reads == "pods" and rule.version is not None:
            version, n = rule.version(ask), nodes.table.n
            if version is None or version != self.version or len(self.values) != n:
                self.set(np.array(self.vector(ask, Nodes(nodes.world, slice(0, n), n)), dtype=np.float64))
                self.version = version
            raw = self.values[nodes.rows]
        else:
            raw = np.asarray(self.vector(ask, nodes), dtype=np.float64)
        return rule.normalise(ask, raw) if rule.normalise is not None else raw

    def contribution(self, row: int) -> float:
        """What a kept score adds for one row; a normalised one adds its constant, if it has one."""
        if self.score.normalise is None:
            return self.cells[row]
        return self.constant or 0.0

    def contributions(self, *, by_look: bool) -> Any:
        """The same for all looks, or all rows: float64 or, where it is the same for all, a float."""
        if self.score.normalise is None and self.by_look == by_look:
            return self.values
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

    def ask_all(self, ask: Ask, looks: EveryLook) -> bool:
        """Bring all columns up to date for all rows. True if all are by look now."""
        picture, n = self._picture, self._picture.nodes.n
        rows, alive = Nodes(picture, slice(0, n), n), picture.nodes.alive[:n]
        for column in self.filters:
            column.compute_room(ask, looks, rows)
        for score in self.scores:
            score.compute_room(ask, looks, rows, alive)
        return all(c.by_look for c in self.filters) and all(c.by_look for c in self.scores)

    def lay_out(self, of: Numbers) -> None:
        """From looks to rows; `of` is the look of each row, as it was when looks were asked about."""
        for column in self.filters:
            column.lay_out(of)
        for score in self.scores:
            score.lay_out(of)

    def repair(self, ask: Ask, row: int) -> None:
        """Bring all columns up to date for one row, if they are by row."""
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
