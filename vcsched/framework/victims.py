"""Victims: who may be evicted from a node for a task, in which order, and how many it takes (spec 03 §7.4-7.6).

What the tiers say about victims is bounded by what nobody may overrule (design-notes §7 rows 7 and 26): critical
pods stay, a queue keeps what it deserves, a gang goes whole or above its minimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vcsched.columns.live import LiveQueue
from vcsched.framework import gangsense, orders
from vcsched.framework.claims import SHARES, all_go, share_lets_go
from vcsched.framework.plugin import ABSTAIN
from vcsched.framework.shapestate import EPSILON
from vcsched.model.status import EVICTABLE

if TYPE_CHECKING:
    from vcsched.columns.table import IntArray
    from vcsched.framework.plugin import Ask
    from vcsched.framework.points import Victims
    from vcsched.framework.session import Session
    from vcsched.model.node import Node
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

TaskTest = Callable[["Task"], bool]
Test = Callable[[], bool]
Unit = list["Task"]  # who goes together: one pod, or a gang whose first member would have broken it

RECKONING = SHARES | {"drf", "gang"}
"""Plugins whose answer about several victims depends on how many of them have gone before."""

_CRITICAL = frozenset({"system-cluster-critical", "system-node-critical"})
_SYSTEM_NAMESPACE = "kube-system"


def is_critical(task: Task) -> bool:
    """Whether the cluster may break if this pod goes."""
    return task.namespace == _SYSTEM_NAMESPACE or task.pod.spec.priority_class_name in _CRITICAL


def is_refused(ssn: Session, task: Task) -> bool:
    """Whether the API server would not let this pod go a moment ago; the session that may ask again comes by itself."""
    until = ssn.cache.evictor.ledger.refused_until(task)
    if until <= ssn.now:
        return False
    ssn.wake_at(until)
    return True


@dataclass(slots=True)
class Hunt:
    """A task that needs room, and the rules of the action that makes room for it.

    `wanted` tells whom the action may look at, `vote` is `ssn.preemptable` or `ssn.reclaimable`.
    """

    ssn: Session
    ask: Ask
    action: str
    wanted: TaskTest
    vote: Victims
    between_queues: bool = False

    def allowed(self, node: Node) -> list[Task]:
        """Tasks of a node that the plugins let go. Plugins that reckon see first who would go first."""
        candidates = sorted((t for t in node.tasks.values() if self._is_wanted(t)), key=lambda t: (t.created, t.uid))
        if not self.ssn.compat.single_pod_victims:
            candidates = self._sparing(candidates)
        return self.vote(self.ask.task, candidates)

    def unit(self, victim: Task) -> Unit:
        """Who goes if this one has to go now; nobody if it may not, or if a member of its gang may not."""
        ssn = self.ssn
        if victim.status not in EVICTABLE or not self._is_beyond_share(victim):
            return []
        if ssn.compat.single_pod_victims or victim.job is self.ask.job or not gangsense.breaks(victim):
            return [victim]
        gang = [victim, *gangsense.others(victim)]
        return gang if self._may_go_whole(gang) else []

    def reason(self, unit: Unit) -> str:
        """Why these pods go: the action, and for a gang what became of it."""
        job = unit[0].job
        if len(unit) == 1 or job is None:
            return self.action
        return f"{self.action}: gang {job.key} goes whole, it would fall below its minimum of {job.min_available}"

    def by_loss(self, tasks: Sequence[Task]) -> list[Task]:
        """Pods that their gangs cannot spare: those whose queue keeps its share without the gang first, then the
        least important gang, then the one that loses least (design-notes §7 row 26)."""
        gangs = {task.job_key: task for task in tasks}
        below = {}
        if self.between_queues and len(gangs) > 1:
            below = {key: self.goes_below_share([one, *gangsense.others(one)]) for key, one in gangs.items()}
        return sorted(tasks, key=lambda task: (below.get(task.job_key, False), _loss(task, self.ask.task)))

    def goes_below_share(self, victims: Sequence[Task]) -> bool:
        """Whether a queue would hold no more than it deserves before the last of these pods goes."""
        return not all_go(self.ssn, SHARES, self.ask.task, victims)

    def _sparing(self, tasks: list[Task]) -> list[Task]:
        """The same tasks; those that their gangs can spare, one after the other, stand before the others."""
        left: dict[str, int] = {}
        spared: list[Task] = []
        needed: list[Task] = []
        for task in tasks:
            job = task.job
            if job is None or job is self.ask.job or job.min_available < 2:
                spared.append(task)
                continue
            left[job.key] = left.get(job.key, gangsense.spare(job)) - 1
            is_whole = left[job.key] < 0 and gangsense.is_whole(job)
            (needed if is_whole or gangsense.breaks(task) else spared).append(task)
        return spared + self.by_loss(needed) if needed else spared

    def _may_go_whole(self, gang: Unit) -> bool:
        """Whether every member may go, and all of them together. That its first member is beyond what its queue
        deserves decides for all, so the plugins that reckon with shares are asked about each member alone."""
        task = self.ask.task
        if not all(member.status in EVICTABLE and self._is_wanted(member) for member in gang):
            return False
        if not all(self.vote(task, [member]) for member in gang):
            return False
        for entry in self.vote.registered:
            if entry.plugin not in RECKONING:
                victims, vote = entry.function(task, gang)
                if vote != ABSTAIN and len(victims) < len(gang):
                    return False
        return self._keeps_guarantee(gang)

    # ------------------------------------------------------------------ what nobody may overrule

    def _is_wanted(self, task: Task) -> bool:
        if self.ssn.compat.victim_veto == "protective" and is_critical(task):
            return False
        return self.wanted(task) and not is_refused(self.ssn, task)

    def _is_beyond_share(self, victim: Task) -> bool:
        """Whether its queue, as it stands after the evictions so far, holds more than it deserves."""
        if not self.between_queues or self.ssn.compat.victim_veto != "protective":
            return True
        return share_lets_go(self.ssn, self.ask.task, victim)

    def _keeps_guarantee(self, gang: Unit) -> bool:
        """Whether the queue of a gang that goes whole still has what it is guaranteed."""
        queue = gang[0].job.queue if gang[0].job is not None else None
        if not self.between_queues or queue is None:
            return True
        table, index = self.ssn.queue_table, self.ssn.space.index
        for name, amount in _sum(gang).items():
            column = index[name]
            due = table.guarantee_cells[column][queue.row]
            if due > 0 and table.charged_cells[column][queue.row] - amount < due - EPSILON:
                return False
        return True


def _sum(tasks: Sequence[Task]) -> dict[str, float]:
    total: dict[str, float] = {}
    for task in tasks:
        for name, amount in task.request.by_name.items():
            total[name] = total.get(name, 0.0) + amount
    return total


# ---------------------------------------------------------------- where


def rows_to_try(ssn: Session, ask: Ask) -> IntArray:
    """Rows that an eviction could open: without those that this session found to be closed for good."""
    rows = ssn.pipeline.tolerable(ask)
    job = ask.job
    record = job.fit_errors.get(ask.task.uid) if job is not None else None
    if record is not None and record.unresolvable is not None:
        closed = np.flatnonzero(record.unresolvable)
        rows = rows[~np.isin(rows, closed)]
    return rows


def has_room(ssn: Session, task: Task, node: Node, more: Sequence[Task] = ()) -> bool:
    """Whether the task's request fits the node's future room plus what these tasks would free."""
    future = ssn.node_table.future_cells
    for column, amount in task.request.items:
        room = future[column][node.row]
        name = ssn.space.names[column]
        for victim in more:
            room += victim.request.by_name.get(name, 0.0)
        if room <= amount - EPSILON:
            return False
    return True


def fit_test(ssn: Session, ask: Ask, node: Node, queue: Queue) -> Test:
    """Whether the task could be promised the node as it stands: queue share, room, all filters.

    The reference does not see what an eviction changes for pod affinity and spread: under its rules what those
    filters said before the first eviction stays.
    """
    pipeline, task, row = ssn.pipeline, ask.task, node.row
    frozen = ssn.compat.evict_unchecked
    refused = frozen and pipeline.pods_refuse(ask, row)

    def fits() -> bool:
        if refused or not ssn.allocatable(queue, task) or not has_room(ssn, task, node):
            return False
        return not pipeline.reasons_at(ask, row, room=False, skip_pods=frozen)

    return fits


# ---------------------------------------------------------------- order


def victim_less(ssn: Session, preemptor: Task) -> Callable[[Task, Task], bool]:
    """`less(a, b)`: a is evicted before b. Pods that their gangs can spare go before all others, and of gangs
    that must go whole the least important one, which loses least (design-notes §7 row 26)."""
    less = orders.victim_less(ssn, preemptor)

    def sparing(a: Task, b: Task) -> bool:
        loss_a, loss_b = _loss(a, preemptor), _loss(b, preemptor)
        return loss_a < loss_b if loss_a != loss_b else less(a, b)

    return less if ssn.compat.single_pod_victims else sparing


def _loss(task: Task, preemptor: Task) -> tuple[int, int, int]:
    """(its gang falls apart, priority of that gang, pods lost). Of the preemptor's own job pods are exchanged."""
    job = task.job
    if job is None or job is preemptor.job or not gangsense.breaks(task):
        return (0, 0, 0)
    return (1, job.priority, gangsense.loss(task))


def in_order(hunt: Hunt, victims: Sequence[Task]) -> Iterator[Task]:
    """Victims in the order of eviction, which follows what has been evicted meanwhile."""
    task = hunt.ask.task
    queue: LiveQueue[Task] = LiveQueue(orders.victim_less(hunt.ssn, task), victims)
    later: list[Task] = []
    while queue:
        victim = queue.pop()
        if not hunt.ssn.compat.single_pod_victims and _loss(victim, task)[0]:
            later.append(victim)
        else:
            yield victim
    yield from hunt.by_loss(later)
