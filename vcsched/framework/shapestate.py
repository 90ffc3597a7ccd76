"""Shape states: what is known about every node for one shape, kept and repaired (DESIGN 1.4, design-notes §2.5).

Per filter a column of codes and reasons, per score a column of values. A placement changes one row, and
that row alone is asked again, on floats. What reads pods of the whole cluster is kept while its version
stays; what reads the candidates or anything else is asked each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vcsched.columns.best import NEVER
from vcsched.columns.table import BoolArray, FloatArray, IntArray, cells
from vcsched.framework.keptcolumns import FilterColumn, RoomFunctions, ScoreColumn
from vcsched.framework.plugin import Ask, Nodes
from vcsched.framework.points import Filter, Score
from vcsched.framework.toprows import TopRows

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.model.form import Shape

EPSILON = 0.1  # amounts within this count as equal (spec 01); amounts of nodes and requests are integral
REPAIR_LIMIT = 24  # more changed rows than this are cheaper in one array pass

NONE, IDLE, FUTURE = 0, 1, 3  # candidate classes (spec 04 §2.6 rule 5); 2 and 4 are theirs outside the shard


class ShapeState:
    """All kept columns of one shape, at a position of the row logs."""

    def __init__(self, picture: Picture, shape: Shape, filters: list[Filter], scores: list[tuple[Score, bool]]) -> None:
        self.picture = picture
        self.shape = shape
        self._all_filters = filters
        self._all_scores = scores
        self.n = -1
        self._room_at = self._node_at = 0
        self._top_at = 0  # the position up to which `tops` is right; columns may be behind it
        self._epoch = -1
        self.filters: list[FilterColumn] = []
        self.live_filters: list[FilterColumn] = []  # read pods or anything
        self._kept_filters: list[FilterColumn] = []
        self.order: list[ScoreColumn] = []  # kept scores, per node
        self.batch: list[ScoreColumn] = []  # kept scores, batch
        self.room = RoomFunctions(picture, [], [])
        self.tops = TopRows()
        self.versioned: list[ScoreColumn] = []  # kept scores that something else than their row moves, too
        self._stretched: list[ScoreColumn] = []  # read the room of a row, and are normalised over the candidates
        self.live_scores: list[ScoreColumn] = []  # asked on the candidates each time
        self.live_bad: BoolArray | None = None
        self._set_bad(np.zeros(0, dtype=np.bool_))
        self._set_room(self.bad.copy(), self.bad.copy())
        self._set_totals(np.zeros(0))
        self._picks = False  # the best row can be told without comparing candidates
        self.needs_candidates = False  # some score must be computed on the candidates each time
        self.bytes = 0
        self.changed = 0  # counts changes, so that a frozen fit record knows whether it still holds

    # ------------------------------------------------------------------ upkeep

    def refresh(self, ask: Ask) -> None:
        """Bring every kept column up to date."""
        picture = self.picture
        room = picture.room_log
        if self.n != picture.nodes.n or self._epoch != picture.epoch:
            self._build(ask)
        else:
            if self._node_at != picture.node_log.position:
                rows = picture.node_log.since(self._node_at, max(64, self.n // 8))
                if rows is None:
                    self._build(ask)
                else:
                    self._repair_nodes(ask, np.array(rows, dtype=np.int64))
            if self._room_at != room.position:
                changed = room.since(self._room_at, REPAIR_LIMIT)
                self._room_at = room.position
                self.changed += 1
                if changed is None:
                    self._recompute_room(ask)
                else:
                    for row in changed:
                        self._repair_room(ask, row)
                    if self._stretched:
                        self._settle_stretched(ask)
            stale = [c for c in self.versioned if c.score.version is not None and c.score.version(ask) != c.version]
            if stale:
                self._recompute_scores(ask, stale)
        self._top_at = self._room_at
        if self.live_filters:
            self._ask_live(ask)

    def pick(self, ask: Ask, chance: Callable[[int], int]) -> int:
        """The row with room now that is best, ties broken by `chance(number of equals)`; only `tops` is brought
        up to date. -1 where there is none, or where it takes more to tell."""
        picture = self.picture
        if (
            not self._picks
            or self.n != picture.nodes.n
            or self._epoch != picture.epoch
            or self._node_at != picture.node_log.position
        ):
            return -1
        for column in self.versioned:
            if column.score.version is not None and column.score.version(ask) != column.version:
                return -1
        log = picture.room_log
        end = log.position
        if self._top_at != end:
            changed = log.since(self._top_at, REPAIR_LIMIT)
            if changed is None:
                return -1
            tops = self.tops
            if tops.footprint is None and not self._note(ask, changed[0]):
                return -1
            tops.move(picture, changed, self, ask)
            self._top_at = end
        return self.tops.pick(chance)

    def _note(self, ask: Ask, row: int) -> bool:
        """Find out which cells decide the value of a row; False if there is more to it."""
        read = self.room.footprint(ask, row)
        if read is None:
            self._picks = False
            return False
        asked = {(name, column) for name in ("idle", "future") for column, _ in self.shape.request.items}
        self.tops.footprint = tuple(sorted(asked.union(read)))
        return True

    def _build(self, ask: Ask) -> None:
        """From nothing: all rows, all filters and scores that apply to the shape."""
        picture = self.picture
        n = self.n = picture.nodes.n
        self._epoch = picture.epoch
        self._room_at, self._node_at = picture.room_log.position, picture.node_log.position
        nodes = Nodes(picture, slice(0, n), n)
        self.filters = [FilterColumn(f) for f in self._all_filters if f.applies is None or f.applies(ask)]
        self._kept_filters = [c for c in self.filters if c.filter.reads in ("node", "room")]
        self.live_filters = [c for c in self.filters if c.filter.reads in ("pods", "any")]
        scores = [ScoreColumn(s, batch) for s, batch in self._all_scores if s.applies is None or s.applies(ask)]
        kept = [c for c in scores if c.score.reads in ("node", "room")]
        self.order = [c for c in kept if not c.batch]
        self.batch = [c for c in kept if c.batch]
        room_filters = [c for c in self._kept_filters if c.filter.reads == "room"]
        self.room = RoomFunctions(picture, room_filters, [c for c in kept if c.score.reads == "room"])
        self.tops = TopRows()
        self._stretched = [c for c in self.room.scores if c.score.normalise is not None]
        self.versioned = [c for c in kept if c.score.version is not None]
        self.live_scores = [c for c in scores if c.score.reads not in ("node", "room")]
        for column in self.filters:
            if column.filter.reads in ("node", "room"):
                column.compute(ask, nodes)
        alive = picture.nodes.alive[:n]
        for score in kept:
            score.compute(ask, nodes, alive)
        self._fold_filters()
        self._fold_room()
        self._fold_scores()
        self.changed += 1
        self.bytes = n * (2 * len(self.filters) + 8 * (len(scores) + 2) + 4)

    def _repair_nodes(self, ask: Ask, rows: IntArray) -> None:
        """Node objects changed."""
        picture, alive = self.picture, self.picture.nodes.alive[: self.n]
        self._node_at = picture.node_log.position
        if not len(rows):
            return
        for column in self.filters:
            if column.filter.reads in ("node", "room"):
                column.repair(ask, picture, rows)
        for score in (*self.order, *self.batch):
            score.values[rows] = score.vector(ask, Nodes(picture, rows, len(rows)))
            score.settle(ask, alive)
        self._fold_filters()
        self._fold_room()
        self._fold_scores()
        self.changed += 1

    def _recompute_scores(self, ask: Ask, scores: list[ScoreColumn]) -> None:
        """Kept scores whose version moved: all rows anew."""
        nodes = Nodes(self.picture, slice(0, self.n), self.n)
        for score in scores:
            score.compute(ask, nodes, self.picture.nodes.alive[: self.n])
        self._fold_scores()
        self.changed += 1

    def _recompute_room(self, ask: Ask) -> None:
        """Many rows changed their room: one array pass."""
        nodes = Nodes(self.picture, slice(0, self.n), self.n)
        alive = self.picture.nodes.alive[: self.n]
        for column in self.room.filters:
            column.compute(ask, nodes)
        for score in self.room.scores:
            score.compute(ask, nodes, alive)
        if self.room.filters:
            self._fold_filters()
        self._fold_room()
        self._fold_scores()

    def _repair_room(self, ask: Ask, row: int) -> None:
        """One row changed its room: floats."""
        nodes = self.picture.nodes
        self.room.repair(ask, row)
        bad = not nodes.alive_cells[row]
        for column in self._kept_filters:
            if column.code_cells[row]:
                bad = True
        self._bad_cells[row] = bad
        idle_ok = future_ok = bool(nodes.alive_cells[row])
        idle, future = nodes.idle_cells, nodes.future_cells
        for resource, amount in self.shape.request.items:
            limit = amount - EPSILON
            if idle[resource][row] <= limit:
                idle_ok = False
            if future[resource][row] <= limit:
                future_ok = False
        self._idle_ok_cells[row], self._future_ok_cells[row] = idle_ok, future_ok
        total = batch = 0.0
        for score in self.order:
            total += score.cells[row]
        for score in self.batch:
            batch += score.contribution(row)
        total += batch
        self._total_cells[row] = total
        self.tops.put(row, total if idle_ok and future_ok and not bad and total == total else NEVER)

    def kind(self, row: int) -> tuple[Any, ...]:
        """What the value of a row depends on beside its room."""
        refused = any(c.code_cells[row] for c in self._kept_filters if c.filter.reads == "node")
        scores = [s.contribution(row) for s in (*self.order, *self.batch) if s.score.reads == "node"]
        return self.picture.nodes.alive_cells[row], refused, *scores

    def value(self, ask: Ask, row: int) -> float:
        """The total of a row where the task fits what is idle, else NEVER."""
        self._repair_room(ask, row)
        return self.tops.cells[row]

    def _settle_stretched(self, ask: Ask) -> None:
        """A repaired row may have made raw values equal everywhere, or no longer so."""
        before = [score.constant for score in self._stretched]
        for score in self._stretched:
            score.settle(ask, self.picture.nodes.alive[: self.n])
        if before != [score.constant for score in self._stretched]:
            self._fold_scores()

    def _ask_live(self, ask: Ask) -> None:
        """Filters that read pods of the whole cluster, or anything else."""
        stale = False
        nodes = None
        for column in self.live_filters:
            version = column.filter.version(ask) if column.filter.version is not None else None
            if version is not None and version == column.version and len(column.codes) == self.n:
                continue
            if nodes is None:
                nodes = Nodes(self.picture, slice(0, self.n), self.n)
            column.compute(ask, nodes)
            column.version = version
            stale = True
        if stale or self.live_bad is None or len(self.live_bad) != self.n:
            bad = self.live_filters[0].codes != 0
            for column in self.live_filters[1:]:
                bad = bad | (column.codes != 0)
            self.live_bad = bad
            self.changed += 1

    # ------------------------------------------------------------------ folding columns together

    def _fold_filters(self) -> None:
        bad = ~self.picture.nodes.alive[: self.n]
        for column in self.filters:
            if column.filter.reads in ("node", "room"):
                bad = bad | (column.codes != 0)
        self._set_bad(bad)

    def _set_bad(self, bad: BoolArray) -> None:
        self.bad = bad  # bool[n]: refused by a kept filter, or no node
        self._bad_cells = cells(bad)

    def _set_room(self, idle_ok: BoolArray, future_ok: BoolArray) -> None:
        self.idle_ok, self.future_ok = idle_ok, future_ok  # bool[n]: the request fits
        self._idle_ok_cells, self._future_ok_cells = cells(idle_ok), cells(future_ok)

    def _set_totals(self, total: FloatArray) -> None:
        self.total = total  # order + batch of kept scores
        self._total_cells: memoryview[float] = cells(total)

    def _fold_room(self) -> None:
        nodes, n = self.picture.nodes, self.n
        idle_ok = nodes.alive[:n].copy()
        future_ok = idle_ok.copy()
        for column, amount in self.shape.request.items:
            limit = amount - EPSILON
            idle_ok &= nodes.idle[column, :n] > limit
            future_ok &= nodes.future[column, :n] > limit
        self._set_room(idle_ok, future_ok)

    def _fold_scores(self) -> None:
        n = self.n
        order = np.zeros(n)
        for score in self.order:
            order = order + score.values
        batch = np.zeros(n)
        for score in self.batch:
            if score.score.normalise is None:
                batch = batch + score.values
            elif score.constant is not None:
                batch = batch + score.constant
        self.needs_candidates = bool(self.live_scores) or any(
            score.score.normalise is not None and score.constant is None for score in self.batch
        )
        total = order + batch
        candidates = self.idle_ok & self.future_ok & ~self.bad & ~np.isnan(total)
        self._set_totals(total)
        self.tops.set(np.where(candidates, total, NEVER))
        moved = self._stretched or any(s.score.reads == "room" for s in self.versioned)
        self._picks = not (moved or self.live_filters or self.needs_candidates or self.room.has_odd)

    # ------------------------------------------------------------------ answers

    def passing(self, *, room: bool) -> BoolArray:
        """bool[n]: rows that pass all filters, and with `room` also the test against future room."""
        ok = ~self.bad
        if self.live_filters and self.live_bad is not None:
            ok &= ~self.live_bad
        return ok & self.future_ok if room else ok

    def totals(self, ask: Ask, rows: IntArray) -> FloatArray:
        """float64[k]: the whole score of these candidates, compared among each other."""
        if not self.needs_candidates or not len(rows):  # no score is ever asked about no node
            return self.total[rows]
        nodes = Nodes(self.picture, rows, len(rows))
        order = np.zeros(len(rows))
        batch = np.zeros(len(rows))
        for score in (*self.order, *self.batch, *self.live_scores):
            values = self._on_candidates(ask, score, rows, nodes)
            if score.batch:
                batch = batch + values
            else:
                order = order + values
        return order + batch

    def _on_candidates(self, ask: Ask, score: ScoreColumn, rows: IntArray, nodes: Nodes) -> Any:
        rule = score.score
        if rule.reads in ("node", "room"):
            if rule.normalise is None:
                return score.values[rows]
            return rule.normalise(ask, score.values[rows]) if score.constant is None else score.constant
        if rule.reads == "pods" and rule.version is not None:
            version = rule.version(ask)
            if version is None or version != score.version or len(score.values) != self.n:
                every = Nodes(self.picture, slice(0, self.n), self.n)
                score.set(np.array(score.vector(ask, every), dtype=np.float64))
                score.version = version
            raw = score.values[rows]
        else:
            raw = np.asarray(score.vector(ask, nodes), dtype=np.float64)
        return rule.normalise(ask, raw) if rule.normalise is not None else raw
