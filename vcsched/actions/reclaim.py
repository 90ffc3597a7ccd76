"""reclaim: a starving job takes room that queues hold beyond their share (spec 04 §7).

By default the node that costs the fewest and least important victims is taken, with all filters and the
queue's limit asked on the node as it would be; under the reference's rules it is the first node that gives
enough room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.actions._waiting import waiting_tasks
from vcsched.columns.live import LiveQueue
from vcsched.framework import victims
from vcsched.framework.victims import Eviction
from vcsched.model.status import RUNNING

if TYPE_CHECKING:
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

    def execute(self, ssn: Session) -> None:
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

    def _for_job(self, ssn: Session, job: Job) -> None:
        statement = ssn.statement()
        tasks = waiting_tasks(ssn, job)
        while tasks and ssn.job_starving(job):
            task = tasks.popleft()
            if task.pod.spec.preemption_policy == "Never" or not ssn.preemptive(job.queue, [task]):
                continue
            if ssn.pre_predicate(task) is None:
                self._for_task(ssn, ssn.pipeline.ask(task), statement)
        if ssn.job_pipelined(job):
            ssn.commit_evictions(statement, self.name, job)
        else:
            statement.rollback()

    def _for_task(self, ssn: Session, ask: Ask, parent: Statement) -> bool:
        rows = victims.rows_to_try(ssn, ask)
        if ssn.compat.reclaim_node_order == "rotating":
            return any(self._on_node(ssn, ask, int(row), parent) is not None for row in rows)
        return self._cheapest(ssn, ask, [int(row) for row in ssn.pipeline.ranked(ask, rows)], parent)

    def _cheapest(self, ssn: Session, ask: Ask, rows: list[int], parent: Statement) -> bool:
        """Work out several nodes, best score first, and take the cheapest; one victim cannot be beaten."""
        best: Eviction | None = None
        seen = 0
        for row in rows:
            trial = ssn.statement()
            found = self._on_node(ssn, ask, row, trial)
            trial.rollback()
            if found is None:
                continue
            seen += 1
            if best is None or found.cost < best.cost:
                best = found
            if best.cost[0] <= 1 or seen == ENOUGH_NODES:
                break
        return best is not None and self._on_node(ssn, ask, best.node.row, parent) is not None

    def _on_node(self, ssn: Session, ask: Ask, row: int, parent: Statement) -> Eviction | None:
        """Evict on one node until the task fits; the operations go to `parent`."""
        task, node, job = ask.task, ssn.world.node_at[row], ask.job
        assert node is not None
        assert job is not None
        assert job.queue is not None
        offered = victims.candidates(node, lambda t: self._may_go(t, job))
        if not offered:
            return None
        allowed = ssn.reclaimable(task, offered)
        if not victims.has_room(ssn, task, node, allowed):
            return None
        enough = self._test(ssn, ask, node, job.queue)
        statement = ssn.statement()
        gone = victims.evict_until(ssn, statement, task, allowed, enough, self.name)
        if gone is not None and not ssn.compat.evict_unchecked:
            gone = victims.reprieve(statement, gone, enough, self.name)
        if gone is None or statement.pipeline(task, node, after_eviction=bool(gone)):
            statement.rollback()
            return None
        parent.absorb(statement)
        return Eviction(node, gone)

    def _test(self, ssn: Session, ask: Ask, node: Node, queue: Queue) -> victims.Test:
        if ssn.compat.evict_unchecked:
            return lambda: victims.has_room(ssn, ask.task, node)
        return victims.fit_test(ssn, ask, node, queue)

    def _may_go(self, victim: Task, job: Job) -> bool:
        other = victim.job
        return (
            victim.status == RUNNING
            and victim.preemptable
            and other is not None
            and other.queue is not None
            and other.queue is not job.queue
            and other.queue.reclaimable
        )
