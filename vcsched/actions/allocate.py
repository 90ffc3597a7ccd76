"""allocate: pending tasks get nodes, all tasks a gang needs or none (spec 04 §4).

Queues take turns, one job a turn; a job whose minimum is reached is committed, and comes back for its
further tasks one turn each. A gang that can only be promised room is left open: its promise holds until
the session ends, and its tasks are bound when the room is free.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from vcsched.actions._promises import keep_promises
from vcsched.columns.live import LiveQueue, Waiting
from vcsched.framework import orders
from vcsched.framework.domains import DomainTrials
from vcsched.framework.placement import PlacementRun

if TYPE_CHECKING:
    from vcsched.framework.domains import Work
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task


class Allocate:
    name = "allocate"

    def execute(self, ssn: Session) -> None:
        work = self._work(ssn)
        keep_promises(ssn, work)
        jobs_of: dict[str, Waiting[Job]] = {}
        queues: LiveQueue[Queue] = LiveQueue(ssn.queue_less)
        for job in work:
            queue = job.queue
            assert queue is not None
            if queue.name not in jobs_of:
                jobs_of[queue.name] = orders.job_queue(ssn)
                queues.push(queue)
            jobs_of[queue.name].push(job)
        placement = PlacementRun(ssn)
        trials = DomainTrials(ssn, placement)
        while queues:
            queue = queues.pop()
            jobs = jobs_of[queue.name]
            if not jobs:
                continue
            if ssn.overused(queue):
                self._overused(ssn, queue, jobs)
                continue
            job = jobs.pop()
            tasks = work[job]
            if job.policies:
                statement = trials.run(job, tasks)
            else:
                statement = placement.run(job, job.subjobs[job.key], tasks[job.key])
                if not tasks[job.key]:
                    tasks.clear()
            if statement is None:
                ssn.block(job, self.name)
            elif ssn.job_ready(job):
                statement.commit()
                trials.keep(job)
                if tasks:
                    jobs.push(job)
            # else promised only: the statement is left open until the session ends
            queues.push(queue)

    def _work(self, ssn: Session) -> dict[Job, Work]:
        """Jobs to look at, with the tasks that ask for something and wait for nothing but a node."""
        work: dict[Job, Work] = {}
        if not ssn.is_action_enabled("enqueue"):
            for job in list(ssn.world.waiting_admission.values()):
                ssn.accounting.set_phase(job, "Inqueue")
        for job in list(ssn.world.placeable.values()):
            if job.pending_phase or (job.blocked is not None and job.blocked.holds("allocate", ssn)):
                continue
            if ssn.now < job.retry_at:
                ssn.wake_at(job.retry_at)
                continue
            job.forget_reasons()
            if not ssn.valid(job) or self._needs_topology(ssn, job):
                ssn.block(job, self.name)
                continue
            tasks = self._tasks(ssn, job)
            if tasks:
                work[job] = tasks
        return work

    def _tasks(self, ssn: Session, job: Job) -> Work:
        """The work of a job by sub-job, each in task order; sub-jobs without work are left out."""
        waiting = [task for task in job.pending.values() if not (task.best_effort or ssn.is_held(task))]
        if not waiting:
            return {}
        if not job.policies:
            return {job.key: deque(orders.tasks_in_order(ssn, waiting))}
        by_sub_job: dict[str, list[Task]] = {}
        for task in waiting:
            assert task.subjob is not None
            by_sub_job.setdefault(task.subjob.key, []).append(task)
        return {key: deque(orders.tasks_in_order(ssn, tasks)) for key, tasks in by_sub_job.items()}

    def _needs_topology(self, ssn: Session, job: Job) -> bool:
        """A hard network topology is kept or the job waits: hypernodes are not built yet."""
        topologies = [job.topology, *[sub.topology for sub in job.subjobs.values()]] if job.policies else [job.topology]
        hard = [t for t in topologies if t is not None and t.mode != "soft" and t.highest_tier_allowed is not None]
        if hard:
            ssn.refuse(job, "topology", "a hard network topology is not supported yet; use mode soft or remove it")
        return bool(hard)

    def _overused(self, ssn: Session, queue: Queue, jobs: Waiting[Job]) -> None:
        """The queue has its share; its waiting jobs get to know."""
        while jobs:
            job = jobs.pop()
            ssn.block(job, self.name)
            if job.refusal is None and not job.is_ready():
                ssn.refuse(job, "queue limit", f"queue {queue.name} has used its share: {ssn.usage(queue)}")
