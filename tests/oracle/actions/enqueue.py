"""enqueue: admit jobs, one queue and one job at a time (spec 04 §3)."""

from __future__ import annotations

from tests.oracle.heap import Heap
from tests.oracle.job import Job
from tests.oracle.queue import Queue
from tests.oracle.session import Session


def enqueue(session: Session) -> None:
    queues: Heap[Queue] = Heap(session.queue_less)
    jobs: dict[str, Heap[Job]] = {}
    seen: set[str] = set()
    for job in session.jobs.values():
        if job.queue not in seen:
            seen.add(job.queue)
            queues.push(session.queues[job.queue])
        if job.waits_for_admission:
            jobs.setdefault(job.queue, Heap(session.job_less)).push(job)
    while queues:
        queue = queues.pop()
        heap = jobs.get(queue.name)
        if not heap:
            continue
        job = heap.pop()
        # without minResources nobody is asked (spec 04 §3 rule 3)
        if job.min_resources_list is None or session.vote("job_enqueueable", job):
            for function in session.functions("job_enqueued"):
                function(job)
            job.phase = "Inqueue"
        queues.push(queue)
