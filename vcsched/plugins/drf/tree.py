"""Shares in a hierarchy: a node has what the unsaturated of its children have at their smallest share, and
all that the saturated ones have (spec 05 §6.2).

The whole tree is computed in arrays, level by level, when the cluster or the set of scarce resources changes;
an operation makes its way to the root stale, and that way alone is computed anew when queues are next
compared. Sums run in one order in both ways, so that equals stay equal to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vcsched.framework.plugin import EVICT, Ledger, Op, compare
from vcsched.model.algebra import tolerance
from vcsched.plugins.drf.hierarchy import Hierarchy

if TYPE_CHECKING:
    from vcsched.columns.table import BoolArray, FloatArray, IntArray
    from vcsched.framework.session import Session
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

Changes = dict[int, "FloatArray"]  # row of a job -> float64[C] that it is charged more


class NodeShare(NamedTuple):
    """What a node has: float64[C], its dominant share, and whether it wants no more."""

    alloc: FloatArray
    share: float
    saturated: bool


class Shares(NamedTuple):
    """The same of several jobs or nodes: float64[C, k], float64[k], bool[k]."""

    alloc: FloatArray
    share: FloatArray
    saturated: BoolArray

    @property
    def hungry(self) -> BoolArray:
        """Who has something and wants more."""
        hungry: BoolArray = (self.share != 0) & ~self.saturated
        return hungry

    def factors(self, least: FloatArray) -> FloatArray:
        """What part of what each has counts above it, where `least` is the smallest share of the hungry ones."""
        factors = np.zeros_like(self.share)
        np.divide(least, self.share, out=factors, where=self.hungry)
        factors[self.saturated & (self.share != 0)] = 1.0
        return factors


class State:
    """All nodes under one set of resources that are not used up (`demand`, bool[C])."""

    def __init__(self, demand: BoolArray, width: int, nodes: int) -> None:
        self.demand = demand
        self.alloc: FloatArray = np.zeros((width, nodes))
        self.share: FloatArray = np.zeros(nodes)
        self.saturated: BoolArray = np.zeros(nodes, dtype=np.bool_)

    def node(self, node: int) -> tuple[float, bool]:
        return float(self.share[node]), bool(self.saturated[node])

    def put(self, node: int, share: NodeShare) -> None:
        self.alloc[:, node] = share.alloc
        self.share[node] = share.share
        self.saturated[node] = share.saturated


class ShareTree(Ledger):
    """The tree of one configuration. It outlives sessions, because what did not change need not be computed."""

    lasting = True

    def __init__(self) -> None:
        self._said: list[tuple[Queue, dict[str, str]]] = []  # the queues and their annotations
        self._total: FloatArray = np.zeros(0)
        self._states: dict[bytes, State] = {}
        self._stale: set[int] = set()  # nodes whose jobs changed
        self._current: State | None = None

    # ------------------------------------------------------------------ sessions

    def begin(self, ssn: Session) -> None:
        """A session opens: take in what changed since the last one."""
        said = [(queue, queue.obj.metadata.annotations) for queue in ssn.queues.values()]
        self._jobs = ssn.job_table
        if said != self._said or not np.array_equal(ssn.total, self._total):
            self._said, self._total = said, ssn.total
            self._tolerance = np.array([tolerance(name) for name in ssn.space.names])
            self._has = ssn.total >= self._tolerance
            self._build(ssn.queues.values())
        else:
            for queue in ssn.world.touched_queues.values():
                node = self._hierarchy.node_of(queue)
                self._collect(node)
                self._stale.add(node)
        charged = ssn.queue_table.charged[:, : ssn.queue_table.n]
        self._used: FloatArray = charged.sum(axis=1)

    def _build(self, queues: Iterable[Queue]) -> None:
        self._hierarchy = Hierarchy(queues)
        self._rows: list[IntArray] = [np.zeros(0, dtype=np.int64)] * len(self._hierarchy.parent)
        self._kids = [np.array(below, dtype=np.int64) for below in self._hierarchy.children]
        for node in range(len(self._rows)):
            self._collect(node)
        self._current = None
        self._stale.clear()

    def _collect(self, node: int) -> None:
        """The rows of the jobs that stand under a node."""
        rows = [job.row for queue in self._hierarchy.queues[node] for job in queue.jobs.values()]
        self._rows[node] = np.array(rows, dtype=np.int64)

    # ------------------------------------------------------------------ statements

    def apply(self, op: Op, again: Any = None) -> float:
        sign = -1.0 if op.kind == EVICT else 1.0
        self._change(op.task, sign)
        return sign

    def undo(self, op: Op, token: float) -> None:
        self._change(op.task, -token)

    def _change(self, task: Task, sign: float) -> None:
        if task.job is None or task.job.queue is None:
            return
        self._stale.add(self._hierarchy.node_of(task.job.queue))
        for column, amount in task.request.items:
            self._used[column] += sign * amount

    # ------------------------------------------------------------------ questions

    def compare(self, a: Queue, b: Queue) -> int:
        """Which queue comes first: at each step down the unsaturated one, then the smaller weighted share."""
        state = self.current()
        return self._compare(a, b, state.node)

    def compare_after(self, a: Queue, b: Queue, changes: Mapping[int, tuple[Queue, FloatArray]]) -> int:
        """The same if jobs (by row) of these queues were charged float64[C] more."""
        hierarchy = self._hierarchy
        used = self._used.copy()
        by_row: Changes = {}
        stale: set[int] = set()
        for row, (queue, more) in changes.items():
            used += more
            by_row[row] = more
            stale.add(hierarchy.node_of(queue))
        self.current()
        state = self._state(self._demand(used))
        patched: dict[int, NodeShare] = {}
        for node in self._ways_up(stale):
            patched[node] = self._combine(node, state, patched, by_row)

        def look(node: int) -> tuple[float, bool]:
            found = patched.get(node)
            return state.node(node) if found is None else (found.share, found.saturated)

        return self._compare(a, b, look)

    def _compare(self, a: Queue, b: Queue, look: Any) -> int:
        weight, paths = self._hierarchy.weight, self._hierarchy.paths
        for mine, other in zip(paths[a.name], paths[b.name], strict=False):
            share, saturated = look(mine)
            rival_share, rival_saturated = look(other)
            if saturated != rival_saturated:
                return compare(saturated, rival_saturated)
            answer = compare(share / weight[mine], rival_share / weight[other])
            if answer:
                return answer
        return 0

    # ------------------------------------------------------------------ computing

    def _demand(self, used: FloatArray) -> BoolArray:
        """bool[C]: resources of the cluster that are not used up."""
        demand: BoolArray = self._has & (used < self._total)
        return demand

    def current(self) -> State:
        """The state as of now."""
        demand = self._demand(self._used)
        current = self._current
        if current is None or not np.array_equal(current.demand, demand):
            self._stale.clear()
            self._states.clear()
            current = self._current = self._state(demand)
        elif self._stale:
            for node in self._ways_up(self._stale):
                current.put(node, self._combine(node, current, {}, {}))
            self._stale.clear()
            self._states = {demand.tobytes(): current}
        return current

    def _state(self, demand: BoolArray) -> State:
        """The state under some demand; those other than the current one hold until the next operation."""
        key = demand.tobytes()
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = self._compute(demand)
        return found

    def _ways_up(self, nodes: Iterable[int]) -> list[int]:
        """These nodes and all above them, deepest first."""
        parent, depth = self._hierarchy.parent, self._hierarchy.depth
        found: set[int] = set()
        for start in nodes:
            node = start
            while node >= 0 and node not in found:
                found.add(node)
                node = parent[node]
        return sorted(found, key=lambda node: -depth[node])

    def _compute(self, demand: BoolArray) -> State:
        """All nodes, level by level from below."""
        count = len(self._rows)
        state = State(demand, len(self._total), count)
        depth, parent = np.array(self._hierarchy.depth), np.array(self._hierarchy.parent)
        kids = np.zeros(0, dtype=np.int64)
        for level in range(int(depth.max()), -1, -1):
            nodes = np.flatnonzero(depth == level)
            rows = np.concatenate([self._rows[node] for node in nodes])
            owners = np.repeat(nodes, [len(self._rows[node]) for node in nodes])
            jobs = self._leaves(rows, demand, {})
            below = Shares(state.alloc[:, kids], state.share[kids], state.saturated[kids])
            least, full = np.ones(count), np.ones(count, dtype=np.bool_)
            for those, above in ((jobs, owners), (below, parent[kids])):
                hungry = those.hungry
                np.minimum.at(least, above[hungry], those.share[hungry])
                np.logical_and.at(full, above, those.saturated)
            jobs_factor, below_factor = jobs.factors(least[owners]), below.factors(least[parent[kids]])
            for column in range(len(self._total)):
                own = np.bincount(owners, jobs.alloc[column] * jobs_factor, count)
                lent = np.bincount(parent[kids], below.alloc[column] * below_factor, count)
                state.alloc[column, nodes] = (own + lent)[nodes]
            state.share[nodes] = self._dominant(state.alloc[:, nodes])
            state.saturated[nodes] = full[nodes]
            kids = nodes
        return state

    def _combine(self, node: int, state: State, patched: Mapping[int, NodeShare], changes: Changes) -> NodeShare:
        """One node, from its jobs (with changes to what they are charged) and the nodes below it."""
        jobs = self._leaves(self._rows[node], state.demand, changes)
        kids = self._kids[node]
        below = Shares(state.alloc[:, kids], state.share[kids], state.saturated[kids])
        for place, kid in enumerate(kids.tolist() if patched else ()):
            if kid in patched:
                below.alloc[:, place], below.share[place], below.saturated[place] = patched[kid]
        hungry = [those.share[those.hungry].min(initial=1.0) for those in (jobs, below)]
        least = np.array(min(hungry))
        alloc = _sum(jobs.alloc * jobs.factors(least)) + _sum(below.alloc * below.factors(least))
        share = float(self._dominant(alloc[:, None])[0])
        return NodeShare(alloc, share, bool(jobs.saturated.all() and below.saturated.all()))

    def _leaves(self, rows: IntArray, demand: BoolArray, changes: Changes) -> Shares:
        """Jobs. One is saturated if it has all that it asks of something, or asks for what is used up; one that
        has nothing is not."""
        alloc = self._jobs.charged[:, rows]
        for row, more in changes.items():
            alloc[:, rows == row] += more[:, None]
        asked = self._jobs.total[:, rows]
        some = (alloc >= self._tolerance[:, None]) & (asked != 0)
        saturated = (some & ((alloc >= asked) | ~demand[:, None])).any(axis=0)
        return Shares(alloc, self._dominant(alloc), saturated)

    def _dominant(self, alloc: FloatArray) -> FloatArray:
        """float64[k]: the largest part of the cluster in any resource."""
        parts = alloc[self._has] / self._total[self._has, None]
        most: FloatArray = parts.max(axis=0, initial=0.0)
        return most


def _sum(amounts: FloatArray) -> FloatArray:
    """One after the other, as `bincount` adds, since the rounding of a sum depends on its order."""
    if not amounts.shape[1]:
        return np.zeros(len(amounts))
    summed: FloatArray = np.add.accumulate(amounts, axis=1)[:, -1]
    return summed
