"""Victims: who may be evicted from a node for a task, in which order, and how many it takes (spec 03 §7.4-7.6).

Candidates are tried on the real columns under a statement: evict one, look at the node with all filters,
stop when the task fits, give back whoever is not needed. Nothing is sent before the evictor's job is
promised its room.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vcsched.columns.live import LiveQueue
from vcsched.framework import orders
from vcsched.framework.shapestate import EPSILON
from vcsched.model import readiness
from vcsched.model.status import EVICTABLE

if TYPE_CHECKING:
    from vcsched.columns.table import IntArray
    from vcsched.framework.plugin import Ask
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.model.job import Job
    from vcsched.model.node import Node
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

TaskTest = Callable[["Task"], bool]
Test = Callable[[], bool]


def rows_to_try(ssn: Session, ask: Ask) -> IntArray:
    """Rows that an eviction could open: without those that this session found to be closed for good."""
    rows = ssn.pipeline.tolerable(ask)
    job = ask.job
    record = job.fit_errors.get(ask.task.uid) if job is not None else None
    if record is not None and record.unresolvable is not None:
        closed = np.flatnonzero(record.unresolvable)
        rows = rows[~np.isin(rows, closed)]
    return rows


def candidates(node: Node, wanted: TaskTest) -> list[Task]:
    """Tasks of a node that pass a test, oldest first."""
    return sorted((t for t in node.tasks.values() if wanted(t)), key=lambda t: (t.created, t.uid))


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
    """`less(a, b)`: a is evicted before b."""
    less = orders.victim_less(ssn, preemptor)

    def sparing(a: Task, b: Task) -> bool:
        loss_a, loss_b = _loss(a), _loss(b)
        return loss_a < loss_b if loss_a != loss_b else less(a, b)

    return less if ssn.compat.single_pod_victims else sparing


def _loss(task: Task) -> tuple[int, int, int]:
    """(priority of the job, falls its gang apart, pods lost): surplus pods go before whole gangs, and of
    those the one that loses least (design-notes §7 row 26)."""
    job = task.job
    if job is None or job.queue is None:
        return (-(1 << 31), 0, 1)
    if breaks_gang(task):
        return (job.priority, 1, readiness.ready(job.counts))
    return (job.priority, 0, 1)


def breaks_gang(task: Task) -> bool:
    """Whether evicting this task takes a gang that is whole below its minimum."""
    job = task.job
    return job is not None and 1 < job.min_available == readiness.ready(job.counts)


# ---------------------------------------------------------------- evicting


class Eviction(NamedTuple):
    """What an attempt on one node took."""

    node: Node
    victims: list[Task]

    @property
    def cost(self) -> tuple[int, int, int]:
        """Fewest victims, then the least important ones."""
        priorities = [t.job.priority if t.job is not None else 0 for t in self.victims]
        return (len(self.victims), max(priorities, default=0), sum(priorities))


def evict_until(
    ssn: Session, statement: Statement, task: Task, victims: Sequence[Task], enough: Test, reason: str
) -> list[Task] | None:
    """Evict victims in order until `enough()`; None if all of them do not make it. The test comes first, so
    nobody is evicted where the task fits already."""
    queue: LiveQueue[Task] = LiveQueue(victim_less(ssn, task), victims)
    gone: list[Task] = []
    while not enough():
        if not queue:
            return None
        victim = queue.pop()
        if victim.status not in EVICTABLE:
            continue  # it went with its gang
        for one in _with_gang(ssn, victim):
            statement.evict(one, reason)
            gone.append(one)
    return gone


def _with_gang(ssn: Session, victim: Task) -> list[Task]:
    """The victim, and with it its gang if that would be left useless."""
    if ssn.compat.single_pod_victims or not breaks_gang(victim):
        return [victim]
    job = victim.job
    assert job is not None
    others = [t for t in job.tasks.values() if t is not victim and t.status in EVICTABLE and t.node is not None]
    return [victim, *others]


def reprieve(statement: Statement, gone: list[Task], enough: Test, reason: str) -> list[Task]:
    """Give back every victim that is not needed, last taken first; returns those that stay evicted. A gang
    that went whole is given back whole or not at all."""
    kept: list[Task] = []
    groups: dict[int, list[Task]] = {}
    for victim in gone:
        groups.setdefault(id(victim.job) if victim.job is not None else id(victim), []).append(victim)
    for victim in reversed(gone):
        together = groups[id(victim.job) if victim.job is not None else id(victim)]
        if _is_whole_gang(victim.job, together):
            if victim is together[-1]:
                kept.extend(_spare(statement, together, enough, reason))
        else:
            kept.extend(_spare(statement, [victim], enough, reason))
    return kept


def _spare(statement: Statement, victims: list[Task], enough: Test, reason: str) -> list[Task]:
    for victim in reversed(victims):
        statement.spare(victim)
    if enough():
        return []
    for victim in victims:
        statement.evict(victim, reason)
    return victims


def _is_whole_gang(job: Job | None, gone: list[Task]) -> bool:
    return job is not None and len(gone) > 1 and readiness.ready(job.counts) < job.min_available
