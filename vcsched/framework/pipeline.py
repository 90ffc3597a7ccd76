"""The pipeline: filter, score, choose — one task against all nodes, through the kept columns of its shape.

The next pod of a gang costs: repair a row, take the best row of the best candidate class. Order of
decision is spec 04 §2.5-2.6 and 03 §9: room now beats room that is being freed, then the highest total,
then chance among exact ties.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vcsched.columns.table import BoolArray, FloatArray, IntArray
from vcsched.framework.fits import FitRecord
from vcsched.framework.keptcolumns import FilterColumn
from vcsched.framework.plugin import Ask
from vcsched.framework.points import Points
from vcsched.framework.sampling import Sampling, SamplingFlags
from vcsched.framework.shapestate import EPSILON, ShapeState
from vcsched.model.status import UNRESOLVABLE, UNSCHEDULABLE

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.cache.shapes import Shapes
    from vcsched.model.form import Shape
    from vcsched.model.task import Task

KEPT_BYTES = 256 << 20


class Choice(NamedTuple):
    """The node chosen: its row, and whether the task fits what is idle there now."""

    row: int
    idle: bool


class Pipeline:
    """Shape states of one configuration, kept over sessions and dropped by least use."""

    def __init__(
        self,
        picture: Picture,
        shapes: Shapes,
        rng: random.Random,
        sampling: Sampling | None = None,
        kept_bytes: int = KEPT_BYTES,
    ) -> None:
        self.picture = picture
        self._sampling = sampling or Sampling(SamplingFlags(), adaptive=False)
        self._shapes = shapes
        self._random = rng.random
        self._kept_bytes = kept_bytes
        self._states: OrderedDict[Shape, ShapeState] = OrderedDict()
        self._bytes = 0
        self._points = Points()
        self._plain = False  # nobody may interfere with the choice between the best rows
        self._signature: object = None
        self._records: dict[Shape, tuple[int, bool, FitRecord]] = {}

    def begin(self, points: Points) -> None:
        """A session begins. Kept columns hold only while the same functions are registered."""
        self._points = points
        self._plain = not (points.best_node or points.node_map or self._sampling.is_on)
        signature = (points.predicate.filters, points.node_order.scores, points.batch_node_order.scores)
        if signature != self._signature:
            self._signature = signature
            self._states.clear()
            self._records.clear()
            self._bytes = 0

    # ------------------------------------------------------------------ states

    def ask(self, task: Task) -> Ask:
        job = task.job
        return Ask(self._shapes.of(task), task, job, job.queue if job is not None else None)

    def state(self, ask: Ask) -> ShapeState:
        """The state of the shape, up to date."""
        shape = ask.shape
        state = self._states.get(shape)
        if state is None:
            points = self._points
            scores = [(s, False) for s in points.node_order.scores] + [
                (s, True) for s in points.batch_node_order.scores
            ]
            state = self._states[shape] = ShapeState(self.picture, shape, points.predicate.filters, scores)
        else:
            self._states.move_to_end(shape)
        before = state.bytes
        state.refresh(ask)
        if state.bytes != before:
            self._bytes += state.bytes - before
            while self._bytes > self._kept_bytes and len(self._states) > 1:
                gone, old = self._states.popitem(last=False)
                self._bytes -= old.bytes
                self._records.pop(gone, None)
        return state

    # ------------------------------------------------------------------ choosing

    def choose(self, ask: Ask, rows: IntArray | None = None) -> Choice | None:
        """The node for a task among all nodes (or `rows`), as allocate chooses; None if none fits."""
        if rows is None and self._plain:
            kept = self._states.get(ask.shape)
            if kept is not None and (best := kept.pick(ask, self._chance)) >= 0:
                return Choice(best, True)
        state = self.state(ask)
        if rows is None and self._plain and not state.live_filters and not state.needs_candidates:
            if state.tops.count:
                return Choice(state.tops.pick(self._chance), True)
            if not state.future_ok.any():
                return None
        fits = self._found(state.passing(room=True), rows)
        for idle, group in ((True, fits & state.idle_ok), (False, fits & ~state.idle_ok)):
            candidates = np.flatnonzero(group)
            if len(candidates):
                row = self._best(ask, state, candidates)
                if row is not None:
                    return Choice(row, idle)
        return None

    def best(self, ask: Ask, rows: IntArray) -> int | None:
        """The best of these feasible rows (one row is taken unscored)."""
        return self._best(ask, self.state(ask), rows)

    def ranked(self, ask: Ask, rows: IntArray) -> IntArray:
        """Feasible rows by descending total, equal ones in row order."""
        totals = self._totals(ask, self.state(ask), rows)
        return rows[np.argsort(-totals, kind="stable")]

    def scores(self, ask: Ask, rows: IntArray) -> FloatArray:
        """float64[k]: totals of these rows compared among each other (for probes and explain)."""
        return self._totals(ask, self.state(ask), rows)

    def _chance(self, count: int) -> int:
        """A number below `count`; the bias of a product is of no account for counts of nodes."""
        return int(self._random() * count)

    def _best(self, ask: Ask, state: ShapeState, rows: IntArray) -> int | None:
        if len(rows) == 1:
            return int(rows[0])
        totals = self._totals(ask, state, rows)
        totals = np.where(np.isnan(totals), -np.inf, totals)
        if self._points.best_node:
            chosen = self._points.best_node(ask.task, self._by_score(rows, totals))
            if chosen is not None:
                return int(chosen.row)
        best = totals.max()
        if best == -np.inf:
            return None
        ties = rows[totals == best]
        return int(ties[self._chance(len(ties))] if len(ties) > 1 else ties[0])

    def _by_score(self, rows: IntArray, totals: FloatArray) -> dict[float, list[object]]:
        groups: dict[float, list[object]] = {}
        for row, total in zip(rows, totals, strict=True):
            groups.setdefault(float(total), []).append(self.picture.node_at[row])
        return groups

    def _totals(self, ask: Ask, state: ShapeState, rows: IntArray) -> FloatArray:
        totals = state.totals(ask, rows)
        if self._points.node_map:
            totals = self._reduced(ask.task, rows) + totals
        return totals

    def _reduced(self, task: Task, rows: IntArray) -> FloatArray:
        """Map and reduce scores (spec 03 §9.1-2): a map without a reduce of its own counts nothing."""
        points = self._points
        nodes = [self.picture.node_at[row] for row in rows]
        reduce_by = {r.plugin: r.function for r in points.node_reduce.registered}
        total = np.zeros(len(rows))
        for entry in points.node_map.registered:
            reduce = reduce_by.get(entry.plugin)
            if reduce is None:
                continue
            scores = {node.name: int(np.floor(entry.function(task, node))) for node in nodes if node is not None}
            reduce(task, scores)
            total += [float(scores.get(node.name, 0)) if node is not None else 0.0 for node in nodes]
        return total

    # ------------------------------------------------------------------ feasibility and failure

    def feasible(self, ask: Ask, *, room: bool, rows: IntArray | None = None) -> IntArray:
        """Rows that pass (allocate: with `room`; backfill: without)."""
        return np.flatnonzero(self._found(self.state(ask).passing(room=room), rows))

    def tolerable(self, ask: Ask, *, room: bool = False, rows: IntArray | None = None) -> IntArray:
        """Rows that an eviction could open: nothing but plain Unschedulable stands against them (spec 03 §7.6)."""
        state = self.state(ask)
        fits = self.picture.nodes.alive[: state.n].copy()
        if room:
            fits &= state.future_ok
        waiting = fits.copy()
        for _plugin, columns in _by_plugin(state):
            failed = np.zeros(state.n, dtype=np.bool_)
            for column in columns:
                shown = waiting & ~(failed & ~fits)
                hard = shown & (column.codes != 0) & (column.codes != UNSCHEDULABLE)
                fits &= ~hard
                failed |= shown & (column.codes != 0)
            waiting &= ~failed
        return np.flatnonzero(self._found(fits, rows))

    def _found(self, fits: BoolArray, rows: IntArray | None) -> BoolArray:
        """What a search through `rows` (default: all nodes) finds."""
        if rows is not None:
            fits = _only(fits, rows)
        if not self._sampling.is_on:
            return fits
        examined = rows if rows is not None else np.flatnonzero(self.picture.nodes.alive[: len(fits)])
        return self._sampling.cut(fits, examined)

    def failure(self, ask: Ask, *, room: bool, rows: IntArray | None = None) -> FitRecord:
        """Why the rows (default: all nodes) do not take the task; shared by all tasks of the shape."""
        state = self.state(ask)
        if rows is None:
            kept = self._records.get(ask.shape)
            if kept is not None and kept[0] == state.changed and kept[1] == room:
                return kept[2]
        record = self._freeze(state, room, rows)
        if rows is None:
            self._records[ask.shape] = (state.changed, room, record)
        return record

    def reasons_at(self, ask: Ask, row: int, *, room: bool, skip_pods: bool = False) -> list[tuple[int, str]]:
        """(code, reason) pairs of one node, as the first failing plugin gives them; with `skip_pods` without the
        filters that read pods of the whole cluster."""
        state = self.state(ask)
        if room and not state.future_ok[row]:
            return [(UNSCHEDULABLE, f"Insufficient {self._short(state, row)}")]
        for _plugin, columns in _by_plugin(state):
            found = []
            for column in columns:
                code = int(column.codes[row])
                if code and not (skip_pods and column.filter.reads == "pods"):
                    found.append((code, column.texts[column.reasons[row] - 1]))
                    if code != UNSCHEDULABLE:
                        break
            if found:
                return found
        return []

    def pods_refuse(self, ask: Ask, row: int) -> bool:
        """Whether a filter that reads pods of the whole cluster refuses this node."""
        return any(c.codes[row] for c in self.state(ask).live_filters if c.filter.reads == "pods")

    def _short(self, state: ShapeState, row: int) -> str:
        future = self.picture.nodes.future_cells
        for column, amount in state.shape.request.items:
            if future[column][row] <= amount - EPSILON:
                return self.picture.space.names[column]
        return ""

    def _freeze(self, state: ShapeState, room: bool, rows: IntArray | None) -> FitRecord:
        nodes, n = self.picture.nodes, state.n
        waiting = nodes.alive[:n].copy()
        if rows is not None:
            waiting = _only(waiting, rows)
        examined = waiting.copy()
        counts: dict[str, int] = {}
        unresolvable = np.zeros(n, dtype=np.bool_)
        if room:
            short = waiting & ~state.future_ok
            waiting &= state.future_ok
            for column, amount in state.shape.request.items:
                lacking = short & (nodes.future[column, :n] <= amount - EPSILON)
                count = int(lacking.sum())
                if count:
                    counts[f"Insufficient {self.picture.space.names[column]}"] = count
                    short &= ~lacking
        for _plugin, columns in _by_plugin(state):
            failed = np.zeros(n, dtype=np.bool_)
            stopped = np.zeros(n, dtype=np.bool_)
            for kept in columns:
                hit = waiting & ~stopped & (kept.codes != 0)
                if not hit.any():
                    continue
                numbers = np.bincount(kept.reasons[hit], minlength=len(kept.texts) + 1)
                for number, text in enumerate(kept.texts, start=1):
                    if numbers[number]:
                        counts[text] = counts.get(text, 0) + int(numbers[number])
                failed |= hit
                stopped |= hit & (kept.codes != UNSCHEDULABLE)
                unresolvable |= hit & (kept.codes == UNRESOLVABLE)
            waiting &= ~failed
        return FitRecord(int((examined & ~waiting).sum()), counts, unresolvable)


def _only(mask: BoolArray, rows: IntArray) -> BoolArray:
    chosen = np.zeros_like(mask)
    chosen[rows] = mask[rows]
    return chosen


def _by_plugin(state: ShapeState) -> list[tuple[str, list[FilterColumn]]]:
    groups: list[tuple[str, list[FilterColumn]]] = []
    for column in state.filters:
        if not groups or groups[-1][0] != column.filter.plugin:
            groups.append((column.filter.plugin, []))
        groups[-1][1].append(column)
    return groups
