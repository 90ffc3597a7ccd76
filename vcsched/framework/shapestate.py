"""Shape states: what is known about every node for one shape, kept and repaired (DESIGN 1.4, design-notes §2.5).

Per filter a column of codes and reasons, per score a column of values. What reads the node object is shared by
shapes (`nodeside`); what reads room is asked once per look of a node (`everylook`), and stays so until somebody
reads rows. A placement changes one row, and that row alone is asked again, on floats. What reads pods of the
whole cluster is kept while its version stays; what reads the candidates or anything else is asked each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vcsched.columns.best import NEVER
from vcsched.columns.table import BoolArray, FloatArray, IntArray, cells
from vcsched.framework.everylook import EveryLook
from vcsched.framework.keptcolumns import FilterColumn, RoomFunctions, ScoreColumn
from vcsched.framework.nodeside import NodeSide, node_side
from vcsched.framework.plugin import Ask, Nodes
from vcsched.framework.points import Filter, Score
from vcsched.framework.toprows import TopRows

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.cache.tables import NodeTable
    from vcsched.columns.looks import Numbers
    from vcsched.model.form import Shape

EPSILON = 0.1  # amounts within this count as equal (spec 01); amounts of nodes and requests are integral
REPAIR_LIMIT = 24  # more changed rows than this are cheaper in one array pass


class ShapeState:
    """All kept columns of one shape, at a position of the row logs."""

    node: NodeSide
    room: RoomFunctions
    tops: TopRows
    live_filters: list[FilterColumn]  # read pods or anything
    live_scores: list[ScoreColumn]  # asked on the candidates each time
    _filters: list[FilterColumn]  # all
    _order: list[ScoreColumn]  # kept scores, per node
    _batch: list[ScoreColumn]  # kept scores, batch
    _versioned: list[ScoreColumn]  # scores of room that something else moves, too
    _stretched: list[ScoreColumn]  # scores of room that are normalised, so that any row may move them

    def __init__(self, picture: Picture, shape: Shape, filters: list[Filter], scores: list[tuple[Score, bool]]) -> None:
        self.picture = picture
        self.shape = shape
        self._all_filters = filters
        self._all_scores = scores
        self.n = self._epoch = -1
        self._room_at = self._node_at = self._node_changed = 0
        self._top_at = 0  # the position up to which `tops` is right; columns may be behind it
        self._of: Numbers | None = None  # the look of each row, while columns are by look; None: they are by row
        self._picks = False  # the best row can be told without comparing candidates
        self.needs_candidates = False  # some score must be computed on the candidates each time
        self.live_bad: BoolArray | None = None
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
            self.node.refresh(ask)
            self._node_at = picture.node_log.position
            if self._node_changed != self.node.changed or any(c.is_stale(ask) for c in self._versioned):
                self._ask_room(ask)
            elif self._room_at != room.position:
                changed = room.since(self._room_at, REPAIR_LIMIT)
                if changed is None:
                    self._ask_room(ask)
                else:
                    self._repair(ask, changed)
        self._top_at = self._room_at
        if self.live_filters:
            self._ask_live(ask)

    def pick(self, ask: Ask, chance: Callable[[int], int]) -> int:
        """The row with room now that is best, ties broken by `chance(number of equals)`; only `tops` is brought
        up to date. -1 where there is none, or where it takes more to tell."""
        picture, node = self.picture, self.node
        log, nodes = picture.room_log, picture.node_log
        if (
            not self._picks
            or self.n != picture.nodes.n
            or self._epoch != picture.epoch
            or self._node_at != nodes.base + len(nodes.rows)
            or self._node_changed != node.changed
        ):
            return -1
        for column in node.versioned:
            if column.is_stale(ask):
                return -1
        end = log.base + len(log.rows)
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
        self._epoch, self._node_at = picture.epoch, picture.node_log.position
        filters = [f for f in self._all_filters if f.applies is None or f.applies(ask)]
        scores = [(s, batch) for s, batch in self._all_scores if s.applies is None or s.applies(ask)]
        node = self.node = node_side(
            picture, ask, [f for f in filters if f.reads == "node"], [s for s in scores if s[0].reads == "node"]
        )
        shared, shared_scores = iter(node.filters), iter(node.scores)
        self._filters = [next(shared) if f.reads == "node" else FilterColumn(f) for f in filters]
        columns = [next(shared_scores) if s.reads == "node" else ScoreColumn(s, batch) for s, batch in scores]
        kept = [c for c in columns if c.score.reads in ("node", "room")]
        of_room = [c for c in kept if c.score.reads == "room"]
        self.room = RoomFunctions(picture, [c for c in self._filters if c.filter.reads == "room"], of_room)
        self._order = [c for c in kept if not c.batch]
        self._batch = [c for c in kept if c.batch]
        self._versioned = [c for c in of_room if c.score.version is not None]
        self._stretched = [c for c in of_room if c.score.normalise is not None]
        self.live_filters = [c for c in self._filters if c.filter.reads in ("pods", "any")]
        self.live_scores = [c for c in columns if c.score.reads not in ("node", "room")]
        self.tops = TopRows()
        self._ask_room(ask)
        self.bytes = n * (2 * len(filters) + 8 * (len(scores) + 2) + 4)

    def _ask_room(self, ask: Ask) -> None:
        """All rows anew, if the node side is up to date."""
        picture = self.picture
        looks = EveryLook(picture)
        by_look = self.room.ask_all(ask, looks) and self.node.is_flat
        self._room_at, self._node_changed = picture.room_log.position, self.node.changed
        self.changed += 1
        if by_look:
            self._of = looks.of
            self._measure(looks.samples, looks.k, ~looks.samples.alive[: looks.k])
        else:
            self._of = None
            self.room.lay_out(looks.of)
            self._measure(picture.nodes, self.n, self.node.refused)
        self._fold()

    def _repair(self, ask: Ask, changed: list[int]) -> None:
        """Few rows changed their room: floats."""
        self._to_rows()
        self._room_at = self.picture.room_log.position
        self.changed += 1
        for row in changed:
            self._repair_room(ask, row)
        if self._stretched:
            self._settle_stretched(ask)

    def _repair_room(self, ask: Ask, row: int) -> None:
        nodes = self.picture.nodes
        self.room.repair(ask, row)
        bad = self.node.refused_cells[row]
        for column in self.room.filters:
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
        for score in self._order:
            total += score.contribution(row)
        for score in self._batch:
            batch += score.contribution(row)
        total += batch
        self._total_cells[row] = total
        self.tops.put(row, total if idle_ok and future_ok and not bad and total == total else NEVER)

    def kind(self, row: int) -> tuple[Any, ...]:
        """What the value of a row depends on beside its room."""
        return self.node.refused_cells[row], *[score.contribution(row) for score in self.node.scores]

    def value(self, ask: Ask, row: int) -> float:
        """The total of a row where the task fits what is idle, else NEVER."""
        self._to_rows()
        self._repair_room(ask, row)
        return self.tops.cells[row]

    def _settle_stretched(self, ask: Ask) -> None:
        """A repaired row may have made raw values equal everywhere, or no longer so."""
        before = [score.constant for score in self._stretched]
        for score in self._stretched:
            score.settle(ask, self.picture.nodes.alive[: self.n])
        if before != [score.constant for score in self._stretched]:
            self._fold()

    def _ask_live(self, ask: Ask) -> None:
        """Filters that read pods of the whole cluster, or anything else."""
        nodes = Nodes(self.picture, slice(0, self.n), self.n)
        asked = [column.compute_live(ask, nodes) for column in self.live_filters]
        if any(asked) or self.live_bad is None or len(self.live_bad) != self.n:
            bad = self.live_filters[0].codes != 0
            for column in self.live_filters[1:]:
                bad = bad | (column.codes != 0)
            self.live_bad = bad
            self.changed += 1

    # ------------------------------------------------------------------ columns together, by look or by row

    def _measure(self, table: NodeTable, n: int, refused: BoolArray) -> None:
        """Where the request fits, and what filters refuse. `table` has nodes or looks."""
        idle_ok = table.alive[:n].copy()
        future_ok = idle_ok.copy()
        for column, amount in self.shape.request.items:
            limit = amount - EPSILON
            idle_ok &= table.idle[column, :n] > limit
            future_ok &= table.future[column, :n] > limit
        bad = refused.copy()
        for kept in self.room.filters:
            bad |= kept.codes != 0
        self._set_fits(idle_ok, future_ok, bad)

    def _fold(self) -> None:
        """What follows from all columns together."""
        by_look = self._of is not None
        n = len(self._idle_ok)
        order = batch = np.zeros(n)
        for score in self._order:
            order = order + score.contributions(by_look=by_look)
        for score in self._batch:
            batch = batch + score.contributions(by_look=by_look)
        self.needs_candidates = bool(self.live_scores) or any(
            score.score.normalise is not None and score.constant is None for score in (*self._order, *self._batch)
        )
        total = order + batch
        candidates = self._idle_ok & self._future_ok & ~self._bad & ~np.isnan(total)
        self._set_total(total)
        top = np.where(candidates, total, NEVER)
        if by_look:
            top = top[self._of]
            if self.node.refuses:
                top[self.node.refused] = NEVER
        self.tops.set(top)
        self._picks = not (
            self._stretched or self._versioned or self.live_filters or self.needs_candidates or self.room.has_odd
        )

    def _set_fits(self, idle_ok: BoolArray, future_ok: BoolArray, bad: BoolArray) -> None:
        self._idle_ok, self._future_ok = idle_ok, future_ok  # the request fits
        self._bad = bad  # refused by a kept filter, or no node; by look: refused by a filter of room
        self._idle_ok_cells, self._future_ok_cells, self._bad_cells = cells(idle_ok), cells(future_ok), cells(bad)

    def _set_total(self, total: FloatArray) -> None:
        self._total = total  # order + batch of kept scores
        self._total_cells: memoryview[float] = cells(total)

    def _to_rows(self) -> None:
        """Lay everything out by row."""
        of = self._of
        if of is not None:
            self._of = None
            self.room.lay_out(of)
            self._set_fits(self._idle_ok[of], self._future_ok[of], self.node.refused | self._bad[of])
            self._set_total(self._total[of])

    # ------------------------------------------------------------------ answers

    @property
    def filters(self) -> list[FilterColumn]:
        """All that apply, in the order in which they are asked."""
        self._to_rows()
        return self._filters

    @property
    def scores(self) -> list[ScoreColumn]:
        """The kept ones that apply: first those per node, then those of the batch."""
        self._to_rows()
        return [*self._order, *self._batch]

    @property
    def idle_ok(self) -> BoolArray:
        """bool[n]: the request fits what is idle."""
        self._to_rows()
        return self._idle_ok

    @property
    def future_ok(self) -> BoolArray:
        """bool[n]: the request fits what will be idle."""
        self._to_rows()
        return self._future_ok

    def passing(self, *, room: bool) -> BoolArray:
        """bool[n]: rows that pass all filters, and with `room` also the test against future room."""
        self._to_rows()
        ok = ~self._bad
        if self.live_filters and self.live_bad is not None:
            ok &= ~self.live_bad
        return ok & self._future_ok if room else ok

    def totals(self, ask: Ask, rows: IntArray) -> FloatArray:
        """float64[k]: the whole score of these candidates, compared among each other."""
        self._to_rows()
        if not self.needs_candidates or not len(rows):  # no score is ever asked about no node
            return self._total[rows]
        nodes = Nodes(self.picture, rows, len(rows))
        order = np.zeros(len(rows))
        batch = np.zeros(len(rows))
        for score in (*self._order, *self._batch, *self.live_scores):
            values = score.on_candidates(ask, nodes)
            if score.batch:
                batch = batch + values
            else:
                order = order + values
        return order + batch
