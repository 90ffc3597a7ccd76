"""preempt: a starving job takes room from other jobs of its queue, then from its own lesser tasks (spec 04 §6).

Evictions are committed only when the job is promised all the room it needs; a task that finds no node is
passed over, and what was evicted for a job that does not make it is given back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vcsched.actions._waiting import waiting_tasks
from vcsched.columns.live import LiveQueue
from vcsched.framework import victims
from vcsched.framework.dryrun import TopologyAware
from vcsched.model.status import EVICTABLE, UNRESOLVABLE

if TYPE_CHECKING:
    from vcsched.columns.table import IntArray
    from vcsched.framework.plugin import Ask
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.framework.victims import TaskTest
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

NEVER = "Never"


class Preempt:
    name = "preempt"

    def execute(self, ssn: Session) -> None:
        arguments = ssn.argument(self.name)
        aware = arguments.bool("enableTopologyAwarePreemption", False)
        dry_run = TopologyAware(ssn, arguments) if aware else None
        self._closed: dict[tuple[str, str], IntArray] = {}  # (job, role) -> rows closed to an earlier task of it
        self._keeps_errors = ssn.compat.role_skip and arguments.bool("predicateErrorCacheEnable", True)
        starving = self._starving(ssn)
        jobs_of: dict[str, LiveQueue[Job]] = {}
        queues: LiveQueue[Queue] = LiveQueue(ssn.queue_less)
        for job in starving:
            queue = job.queue
            assert queue is not None
            if queue.name not in jobs_of:
                jobs_of[queue.name] = LiveQueue(ssn.job_less)
                queues.push(queue)
            jobs_of[queue.name].push(job)
        while queues:
            queue = queues.pop()
            jobs = jobs_of[queue.name]
            while jobs:
                self._between_jobs(ssn, jobs.pop(), dry_run)
            for job in starving:
                if job.queue is queue:
                    self._inside(ssn, job, dry_run)

    def _starving(self, ssn: Session) -> list[Job]:
        """Jobs that lack pods for their minimum and have some that wait for a node."""
        return [
            job
            for job in {**ssn.world.placeable, **ssn.world.best_effort}.values()
            if not job.pending_phase and ssn.valid(job) and ssn.job_starving(job) and not _has_topology(job)
        ]

    # ------------------------------------------------------------------ the two stages

    def _between_jobs(self, ssn: Session, job: Job, dry_run: TopologyAware | None) -> None:
        statement = ssn.statement()
        tasks = waiting_tasks(ssn, job)
        while tasks and ssn.job_starving(job):
            task = tasks.popleft()

            def wanted(victim: Task, task: Task = task) -> bool:
                other = victim.job
                return _may_go(task, victim) and other is not None and other is not job and other.queue is job.queue

            self._attempt(ssn, task, statement, wanted, dry_run)
        if ssn.job_pipelined(job):
            ssn.commit_evictions(statement, self.name, job)
        else:
            statement.rollback()

    def _inside(self, ssn: Session, job: Job, dry_run: TopologyAware | None) -> None:
        for task in waiting_tasks(ssn, job):
            statement = ssn.statement()

            def wanted(victim: Task, task: Task = task) -> bool:
                return _may_go(task, victim) and victim.job is task.job

            done = self._attempt(ssn, task, statement, wanted, dry_run)
            if done and (ssn.compat.preempt_no_reprieve or ssn.job_pipelined(job)):
                ssn.commit_evictions(statement, self.name, job)
            else:
                statement.rollback()
                return

    # ------------------------------------------------------------------ one task

    def _attempt(
        self, ssn: Session, task: Task, parent: Statement, wanted: TaskTest, dry_run: TopologyAware | None
    ) -> bool:
        """Find a node for the task by evicting; the operations go to `parent`."""
        ask = ssn.pipeline.ask(task)
        if not self._eligible(ssn, ask) or ssn.pre_predicate(task) is not None:
            return False
        rows = self._rows(ssn, ask)
        if not len(rows):
            return False
        if dry_run is not None:
            return dry_run.attempt(ask, rows, parent, wanted)
        return any(self._on_node(ssn, ask, int(row), parent, wanted) for row in ssn.pipeline.ranked(ask, rows))

    def _rows(self, ssn: Session, ask: Ask) -> IntArray:
        """Rows to try. The reference keeps what a node said to one task for the later ones of its role, whatever
        has been evicted since (spec 03 §8.5)."""
        rows = victims.rows_to_try(ssn, ask)
        task = ask.task
        if not self._keeps_errors or not task.role:
            return rows
        key = (task.job_key, task.role)
        before = self._closed.get(key)
        closed = np.setdiff1d(np.arange(ssn.node_table.n), ssn.pipeline.tolerable(ask))
        self._closed[key] = closed if before is None else np.union1d(before, closed)
        return rows if before is None else np.setdiff1d(rows, before)

    def _on_node(self, ssn: Session, ask: Ask, row: int, parent: Statement, wanted: TaskTest) -> bool:
        task, node = ask.task, ssn.world.node_at[row]
        assert node is not None
        assert ask.queue is not None
        queue = ask.queue
        allowed = ssn.preemptable(task, victims.candidates(node, wanted))
        ssn.metrics.preemption_tried(len(allowed))
        if not victims.has_room(ssn, task, node, allowed):
            return False

        enough = victims.fit_test(ssn, ask, node, queue)
        statement = ssn.statement()
        gone = victims.evict_until(ssn, statement, task, allowed, enough, self.name)
        if gone is not None and not ssn.compat.preempt_no_reprieve:
            gone = victims.reprieve(statement, gone, enough, self.name)
        if gone is None or statement.pipeline(task, node, after_eviction=_frees_something(gone)):
            statement.rollback()
            return False
        parent.absorb(statement)
        return True

    def _eligible(self, ssn: Session, ask: Ask) -> bool:
        """Whether a task may preempt: not while the victims of an earlier preemption are still leaving (§6.4)."""
        pod = ask.task.pod
        if pod.spec.preemption_policy == NEVER:
            return False
        nominated = pod.status.nominated_node_name
        if not nominated:
            return True
        node = ssn.nodes.get(nominated)
        if node is None:
            # the reference waits for ever for a node that is gone; a dead nomination holds nobody up here
            return not ssn.compat.preempt_no_reprieve
        reasons = ssn.pipeline.reasons_at(ask, node.row, room=False)
        if not reasons:
            return not ssn.compat.preempt_no_reprieve and not victims.has_room(ssn, ask.task, node)
        if any(code == UNRESOLVABLE for code, _ in reasons):
            return True
        mine = pod.spec.priority or 0
        return not any((t.pod.spec.priority or 0) < mine and _is_leaving(t) for t in node.tasks.values())


def _may_go(preemptor: Task, victim: Task) -> bool:
    return victim.status in EVICTABLE and victim.preemptable and (victim.best_effort or not preemptor.best_effort)


def _is_leaving(task: Task) -> bool:
    """Being deleted after a preemption: the first DisruptionTarget condition decides."""
    if task.pod.metadata.deletion_timestamp is None:
        return False
    for condition in task.pod.status.conditions:
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False


def _frees_something(gone: list[Task]) -> bool:
    return any(not task.best_effort for task in gone)


def _has_topology(job: Job) -> bool:
    return job.topology is not None or any(sub.topology is not None for sub in job.subjobs.values())
