"""enqueue: PodGroups in phase Pending are admitted, one job per queue turn (spec 04 §3).

A job without `minResources` is admitted unasked, and so is one that was torn while it was bound: whoever bound
its pods had admitted it, and died before it could say so. The others are put to the vote of the plugins. A
refused job is not looked at again until something has changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.columns.live import LiveQueue, Waiting
from vcsched.framework import orders

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue


class Enqueue:
    name = "enqueue"

    def execute(self, ssn: Session) -> None:
        waiting: dict[str, Waiting[Job]] = {}
        queues: LiveQueue[Queue] = LiveQueue(ssn.queue_less)
        for job in list(ssn.world.waiting_admission.values()):
            if job.blocked is not None and job.blocked.holds("enqueue", ssn):
                continue
            queue = job.queue
            assert queue is not None
            if queue.name not in waiting:
                waiting[queue.name] = orders.job_queue(ssn)
                queues.push(queue)
            waiting[queue.name].push(job)
        while queues:
            queue = queues.pop()
            jobs = waiting[queue.name]
            if not jobs:
                continue
            self._decide(ssn, jobs.pop())
            queues.push(queue)

    def _decide(self, ssn: Session, job: Job) -> None:
        job.refusal = None
        if job.torn or job.min_resources is None or ssn.job_enqueueable(job):
            ssn.admit(job)
        else:
            ssn.block(job, "enqueue")
