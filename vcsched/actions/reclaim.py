"""reclaim: a starving job takes room that queues hold beyond their share (spec 04 §7).

By default room that is free comes first, then the node that costs the fewest and least important victims, with
all filters and the queue's limit asked on the node as it would be; under the reference's rules it is the first
node that gives enough room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.actions._committing import Outcome
from vcsched.actions._memory import Memory, claim, likeness, task_likeness
from vcsched.actions._waiting import waiting_tasks
from vcsched.columns.live import LiveQueue
from vcsched.framework.claims import has_won_from, is_claimed_back
from vcsched.framework.eviction import make_room
from vcsched.framework.freeable import Freeable, worth_visiting
from vcsched.framework.promises import free_node
from vcsched.framework.victims import Hunt, Test, fit_test, has_room, rows_to_try
from vcsched.model.status import RUNNING

if TYPE_CHECKING:
    from vcsched.columns.table import IntArray
    from vcsched.framework.eviction import Eviction
    from vcsched.framework.plugin import Ask
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.model.job import Job
    from vcsched.model.node import Node
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

ENOUGH_NODES = 16
"""Nodes with a way to evict that are compared; more would cost time and seldom find a cheaper one."""


class Reclaim:
    name = "reclaim"

    def __init__(self) -> None:
        self._memory = Memory()

    def execute(self, ssn: Session) -> None:
        self._outcome = Outcome(ssn, self.name)
        self._freeable: Freeable | None = None
        self._lowest = min((job.priority for job in ssn.jobs.values()), default=0)
        jobs_of: dict[str, LiveQueue[Job]] = {}
        queues: LiveQueue[Queue] = LiveQueue(ssn.queue_less)
        for job in list({**ssn.world.placeable, **ssn.world.best_effort}.values()):
            if job.pending_phase or not ssn.valid(job) or not ssn.job_starving(job):
                continue
            queue = job.queue
            assert queue is not None
            if queue.name not in jobs_of:
                jobs_of[queue.name] = LiveQueue(ssn.job_less)
                queues.push(queue)
            jobs_of[queue.name].push(job)
        while queues:
            queue = queues.pop()
            if ssn.overused(queue):
                continue
            jobs = jobs_of[queue.name]
            while jobs:
                self._for_job(ssn, jobs.pop())
        self._outcome.close()

    def _for_job(self, ssn: Session, job: Job) -> None:
        tasks = waiting_tasks(ssn, job)
        right, like = claim(ssn, job, ssn.reclaimable), likeness(ssn, job, tasks, ssn.reclaimable)
        remembers = not ssn.compat.evict_unchecked
        if remembers and self._memory.has(ssn, like):
            return
        statement = ssn.statement()
        while tasks and ssn.job_starving(job):
            task = tasks.popleft()
            if task.pod.spec.preemption_policy == "Never" or not ssn.preemptive(job.queue, [task]):
                continue
            key = (right, task_likeness(ssn, task))
            if remembers and not statement and self._memory.has(ssn, key):
                continue
            found = ssn.pre_predicate(task) is None and self._for_task(ssn, task, statement)
            if not found and not statement:
                self._memory.add(ssn, key)
        if not self._outcome.settle(statement, job):
            self._memory.add(ssn, like)

    def _for_task(self, ssn: Session, task: Task, parent: Statement) -> bool:
        ask = ssn.pipeline.ask(task)
        if not ssn.compat.evict_unchecked:
            node = free_node(ssn, ask)
            if node is not None:
                return not parent.pipeline(task, node)

        def wanted(victim: Task) -> bool:
            if not _may_go(victim, ask):
                return False
            assert victim.job is not None
            assert ask.queue is not None
            return ssn.compat.evict_unchecked or not has_won_from(ssn, victim.job, ask.queue)

        hunt = Hunt(ssn, ask, self.name, wanted, ssn.reclaimable, between_queues=True)
        rows = rows_to_try(ssn, ask)
        if ssn.compat.reclaim_node_order == "rotating":
            return any(self._on_node(hunt, int(row), parent) is not None for row in rows)
        return self._on_cheapest_node(hunt, ssn.pipeline.ranked(ask, rows), parent)

    def _on_cheapest_node(self, hunt: Hunt, rows: IntArray, parent: Statement) -> bool:
        """Work out several nodes, best score first, and take the cheapest; one victim of the lowest priority cannot
        be beaten. Where a gang that goes whole takes its queue below its share comes last."""
        best: Eviction | None = None
        least: tuple[bool, int, int, int] = (True, 0, 0, 0)
        seen = 0
        for row in worth_visiting(hunt.ask.request, rows, lambda: self._bound(hunt.ssn)):
            trial = hunt.ssn.statement()
            found = self._on_node(hunt, row, trial)
            trial.rollback()
            if found is None:
                continue
            seen += 1
            cost = (found.broken[1] > 0 and hunt.goes_below_share(found.victims), *found.cost)
            if best is None or cost < least:
                best, least = found, cost
            if least[:3] <= (False, 1, self._lowest) or seen == ENOUGH_NODES:
                break
        return best is not None and self._on_node(hunt, best.node.row, parent) is not None

    def _bound(self, ssn: Session) -> Freeable:
        """What the jobs of all queues hold that may be reclaimed from, the reclaimer's among them."""
        if self._freeable is None:
            self._freeable = Freeable(ssn, (j for q in ssn.queues.values() if q.reclaimable for j in q.jobs.values()))
        return self._freeable

    def _on_node(self, hunt: Hunt, row: int, parent: Statement) -> Eviction | None:
        """Evict on one node until the task fits; the operations go to `parent`."""
        ssn, ask, node = hunt.ssn, hunt.ask, hunt.ssn.world.node_at[row]
        assert node is not None
        assert ask.queue is not None
        if not any(hunt.wanted(task) for task in node.tasks.values()):
            return None
        allowed = hunt.allowed(node)
        if not has_room(ssn, ask.task, node, allowed):
            return None
        statement = ssn.statement()
        enough = self._test(ssn, ask, node, ask.queue)
        found = make_room(hunt, node, allowed, statement, enough, keep_all=ssn.compat.evict_unchecked)
        if found is None:
            return None
        if not ssn.compat.evict_unchecked and any(is_claimed_back(ssn, ask.task, v) for v in found.victims):
            statement.rollback()
            return None
        parent.absorb(statement)
        return found

    def _test(self, ssn: Session, ask: Ask, node: Node, queue: Queue) -> Test:
        if ssn.compat.evict_unchecked:
            return lambda: has_room(ssn, ask.task, node)
        return fit_test(ssn, ask, node, queue)


def _may_go(victim: Task, ask: Ask) -> bool:
    other = victim.job
    return (
        victim.status == RUNNING
        and victim.preemptable
        and other is not None
        and other.queue is not None
        and other.queue is not ask.queue
        and other.queue.reclaimable
    )
