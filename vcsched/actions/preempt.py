"""preempt: a starving job takes room from other jobs of its queue, then from its own lesser tasks (spec 04 §6).

Evictions are committed only when the job is promised all the room it needs; a task that finds no node is
passed over, and what was evicted for a job that does not make it is given back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vcsched.actions._committing import Outcome
from vcsched.actions._memory import Memory, claim, likeness, task_likeness
from vcsched.actions._waiting import waiting_tasks
from vcsched.columns.live import LiveQueue
from vcsched.framework.dryrun import TopologyAware
from vcsched.framework.eviction import make_room
from vcsched.framework.freeable import Freeable, worth_visiting
from vcsched.framework.promises import free_node
from vcsched.framework.victims import Hunt, fit_test, has_room, rows_to_try
from vcsched.model.status import EVICTABLE, UNRESOLVABLE

if TYPE_CHECKING:
    from vcsched.columns.table import IntArray
    from vcsched.framework.eviction import Eviction
    from vcsched.framework.plugin import Ask
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.framework.victims import TaskTest
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

NEVER = "Never"

ENOUGH_NODES = 16
"""Nodes on which a gang would fall apart that are compared before one is taken."""


class Preempt:
    name = "preempt"

    def __init__(self) -> None:
        self._memory = Memory()

    def execute(self, ssn: Session) -> None:
        arguments = ssn.argument(self.name)
        aware = arguments.bool("enableTopologyAwarePreemption", False)
        self._dry_run = TopologyAware(ssn, arguments) if aware else None
        self._closed: dict[tuple[str, str], IntArray] = {}  # (job, role) -> rows closed to an earlier task of it
        self._keeps_errors = ssn.compat.role_skip and arguments.bool("predicateErrorCacheEnable", True)
        self._freeable: dict[tuple[str, int], Freeable] = {}  # (queue, priority) -> what lower jobs hold
        self._outcome = Outcome(ssn, self.name)
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
                self._between_jobs(ssn, jobs.pop())
            for job in starving:
                if job.queue is queue:
                    self._inside(ssn, job)
        self._outcome.close()

    def _starving(self, ssn: Session) -> list[Job]:
        """Jobs that lack pods for their minimum and have some that wait for a node."""
        return [
            job
            for job in {**ssn.world.placeable, **ssn.world.best_effort}.values()
            if not job.pending_phase and ssn.valid(job) and ssn.job_starving(job) and not _has_topology(job)
        ]

    # ------------------------------------------------------------------ the two stages

    def _between_jobs(self, ssn: Session, job: Job) -> None:
        tasks = waiting_tasks(ssn, job)
        right, like = claim(ssn, job, ssn.preemptable), likeness(ssn, job, tasks, ssn.preemptable)
        remembers = not ssn.compat.preempt_no_reprieve
        if remembers and self._memory.has(ssn, like):
            return
        statement = ssn.statement()
        while tasks and ssn.job_starving(job):
            task = tasks.popleft()

            def wanted(victim: Task, task: Task = task) -> bool:
                other = victim.job
                return _may_go(task, victim) and other is not None and other is not job and other.queue is job.queue

            key = (right, task_likeness(ssn, task))
            if remembers and not statement and self._memory.has(ssn, key):
                continue
            if not self._attempt(ssn, task, statement, wanted) and not statement:
                self._memory.add(ssn, key)
        if not self._outcome.settle(statement, job):
            self._memory.add(ssn, like)

    def _inside(self, ssn: Session, job: Job) -> None:
        for task in waiting_tasks(ssn, job):
            statement = ssn.statement()

            def wanted(victim: Task, task: Task = task) -> bool:
                return _may_go(task, victim) and victim.job is task.job

            if not ssn.compat.preempt_no_reprieve and not any(
                _is_lower(t, task) and wanted(t) for t in job.tasks.values()
            ):
                return
            done = self._attempt(ssn, task, statement, wanted)
            if done and ssn.compat.preempt_no_reprieve:
                self._outcome.commit(statement, job)
            elif not done or not self._outcome.settle(statement, job):
                statement.rollback()
                return

    # ------------------------------------------------------------------ one task

    def _attempt(
        self, ssn: Session, task: Task, parent: Statement, wanted: TaskTest, within: IntArray | None = None
    ) -> bool:
        """Find a node for the task, by evicting if there is no other way; the operations go to `parent`."""
        ask = ssn.pipeline.ask(task)
        if not self._eligible(ssn, ask) or ssn.pre_predicate(task) is not None:
            return False
        if not ssn.compat.preempt_no_reprieve:
            node = free_node(ssn, ask)
            if node is not None:
                return not parent.pipeline(task, node)
        if ssn.compat.victim_veto == "protective":
            allowed = wanted

            def wanted(victim: Task) -> bool:
                return _is_lower(victim, task) and allowed(victim)

        hunt = Hunt(ssn, ask, self.name, wanted, ssn.preemptable)
        rows = self._rows(ssn, ask)
        if within is not None:
            rows = np.intersect1d(rows, within)
        if not len(rows):
            return False
        if self._dry_run is not None:
            return self._dry_run.attempt(hunt, rows, parent)
        return self._on_best_node(hunt, ssn.pipeline.ranked(ask, rows), parent)

    def _on_best_node(self, hunt: Hunt, rows: IntArray, parent: Statement) -> bool:
        """The first node that makes room, or if gangs would fall apart, the one where they lose least."""
        best: Eviction | None = None
        seen = 0
        for row in worth_visiting(hunt.ask.request, rows, lambda: self._bound(hunt)):
            trial = hunt.ssn.statement()
            found = self._on_node(hunt, row, trial)
            if found is None:
                continue
            if not found.broken[1]:
                parent.absorb(trial)
                return True
            trial.rollback()
            seen += 1
            if best is None or found.broken < best.broken:
                best = found
            if seen == ENOUGH_NODES:
                break
        return best is not None and self._on_node(hunt, best.node.row, parent) is not None

    def _bound(self, hunt: Hunt) -> Freeable:
        """What all jobs hold that could be victims of the task's job."""
        ssn, job, queue = hunt.ssn, hunt.ask.job, hunt.ask.queue
        assert job is not None
        assert queue is not None
        key = (queue.name, job.priority)
        bound = self._freeable.get(key)
        if bound is None:
            protective = ssn.compat.victim_veto == "protective"
            jobs = (j for j in queue.jobs.values() if not protective or j.priority < job.priority)
            bound = self._freeable[key] = Freeable(ssn, jobs)
        return bound

    def _rows(self, ssn: Session, ask: Ask) -> IntArray:
        """Rows to try. The reference keeps what a node said to one task for the later ones of its role, whatever
        has been evicted since (spec 03 §8.5)."""
        rows = rows_to_try(ssn, ask)
        task = ask.task
        if not self._keeps_errors or not task.role:
            return rows
        key = (task.job_key, task.role)
        before = self._closed.get(key)
        closed = np.setdiff1d(np.arange(ssn.node_table.n), ssn.pipeline.tolerable(ask))
        self._closed[key] = closed if before is None else np.union1d(before, closed)
        return rows if before is None else np.setdiff1d(rows, before)

    def _on_node(self, hunt: Hunt, row: int, parent: Statement) -> Eviction | None:
        ssn, ask, node = hunt.ssn, hunt.ask, hunt.ssn.world.node_at[row]
        assert node is not None
        assert ask.queue is not None
        allowed = hunt.allowed(node)
        ssn.metrics.preemption_tried(len(allowed))
        if not has_room(ssn, ask.task, node, allowed):
            return None
        enough = fit_test(ssn, ask, node, ask.queue)
        return make_room(hunt, node, allowed, parent, enough, keep_all=ssn.compat.preempt_no_reprieve)

    def _eligible(self, ssn: Session, ask: Ask) -> bool:
        """Whether a task may preempt. In the reference not while its nominated node would take it, whatever room
        there is, nor while victims of an earlier preemption are leaving there (§6.4); here such a node is simply
        found free."""
        pod = ask.task.pod
        if pod.spec.preemption_policy == NEVER:
            return False
        nominated = pod.status.nominated_node_name
        if not nominated or not ssn.compat.preempt_no_reprieve:
            return True
        node = ssn.nodes.get(nominated)
        if node is None:
            return False
        reasons = ssn.pipeline.reasons_at(ask, node.row, room=False)
        if not reasons:
            return False
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


def _is_lower(victim: Task, preemptor: Task) -> bool:
    """Whether a preemptor may ever take this one, whatever the tiers say: of its own job a lower task, of others
    tasks of lower jobs, unless the pod itself is of a higher class than its job."""
    job, other = preemptor.job, victim.job
    if job is None or other is None:
        return False
    if other is job:
        return victim.priority < preemptor.priority
    mine = max(job.priority, preemptor.pod.spec.priority or job.priority)
    return other.priority < job.priority and (victim.pod.spec.priority or other.priority) < mine


def _has_topology(job: Job) -> bool:
    return job.topology is not None or any(sub.topology is not None for sub in job.subjobs.values())
