"""allocate: pending tasks get nodes, all tasks a gang needs or none (spec 04 §4).

Queues take turns, one job a turn; a job whose minimum is reached is committed, and comes back for its
further tasks one turn each. A gang that can only be promised room is left open: its promise holds until
the session ends, and its tasks are bound when the room is free.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from vcsched.columns.live import LiveQueue
from vcsched.framework import orders
from vcsched.framework.placement import PlacementRun

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task


class Allocate:
    name = "allocate"

    def execute(self, ssn: Session) -> None:
        work = self._work(ssn)
        jobs_of: dict[str, LiveQueue[Job]] = {}
        queues: LiveQueue[Queue] = LiveQueue(ssn.queue_less)
        for job in work:
            queue = job.queue
            assert queue is not None
            if queue.name not in jobs_of:
                jobs_of[queue.name] = LiveQueue(ssn.job_less)
                queues.push(queue)
            jobs_of[queue.name].push(job)
        placement = PlacementRun(ssn)
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
            statement = placement.run(job, job.subjobs[job.key], tasks)
            if self._keep(ssn, job, statement) and tasks:
                jobs.push(job)
            queues.push(queue)

    def _work(self, ssn: Session) -> dict[Job, deque[Task]]:
        """Jobs to look at, with the tasks that ask for something and wait for nothing but a node."""
        work: dict[Job, deque[Task]] = {}
        enqueue = ssn.is_action_enabled("enqueue")
        if not enqueue:
            for job in list(ssn.world.waiting_admission.values()):
                ssn.accounting.set_phase(job, "Inqueue")
        for job in list(ssn.world.placeable.values()):
            if job.pending_phase or (job.blocked is not None and job.blocked.holds("allocate", ssn)):
                continue
            job.fit_errors = {}
            job.refusal = None
            if not ssn.valid(job):
                continue
            tasks = [t for t in job.pending.values() if not t.best_effort and not ssn.is_held(t)]
            if tasks:
                work[job] = deque(orders.tasks_in_order(ssn, tasks))
        return work

    def _keep(self, ssn: Session, job: Job, statement: Statement | None) -> bool:
        """Commit what is ready; True if the job may come back for more."""
        if statement is None:
            ssn.block(job, "allocate")
            return False
        if ssn.job_ready(job):
            statement.commit()
            return True
        return False  # promised only: left open until the session ends

    def _overused(self, ssn: Session, queue: Queue, jobs: LiveQueue[Job]) -> None:
        """The queue has its share; its waiting jobs get to know."""
        while jobs:
            job = jobs.pop()
            if job.refusal is None and not job.is_ready():
                ssn.refuse(job, "queue limit", f"queue {queue.name} has used its share: {ssn.usage(queue)}")
