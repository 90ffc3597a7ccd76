"""allocate: place the tasks of admitted jobs, gang by gang (spec 04 §4)."""

from __future__ import annotations

from tests.oracle.heap import Heap
from tests.oracle.job import Job
from tests.oracle.queue import Queue
from tests.oracle.session import Session

from .domains import allocate_in_domains, decide
from .placement import place_run
from .worklist import WorkList


def allocate(session: Session) -> None:
    """One job of one queue a turn; a ready job with tasks left is pushed back (spec 04 §4.2)."""
    queues: Heap[Queue] = Heap(session.queue_less)
    jobs: dict[str, Heap[Job]] = {}
    work: dict[str, WorkList] = {}
    for job in session.jobs.values():
        if job.waits_for_admission:
            if "enqueue" in session.actions:
                continue
            job.phase = "Inqueue"
        if not session.is_valid(job) or (not session.topology.ready and job.wants_topology()):
            continue
        worklist = WorkList(session, job)
        if not worklist.tasks:
            continue
        work[job.key] = worklist
        if job.queue not in jobs:
            jobs[job.queue] = Heap(session.job_less)
            queues.push(session.queues[job.queue])
        jobs[job.queue].push(job)
    while queues:
        queue = queues.pop()
        if session.is_overused(queue) or not jobs[queue.name]:
            continue
        job = jobs[queue.name].pop()
        if allocate_job(session, job, work[job.key]):
            jobs[queue.name].push(job)
        queues.push(queue)


def allocate_job(session: Session, job: Job, work: WorkList) -> bool:
    """Try one job; True if it is ready and has tasks left. What is only pipelined stays open (04 §4.2)."""
    if not job.policies and not job.has_hard_topology():
        sub_job = job.sub_jobs[job.key]
        tasks = work.tasks[sub_job.uid]
        statement = place_run(session, job, sub_job, tasks, session.order)
        if statement is None or not session.is_ready(job):
            return False
        statement.commit()
        return bool(tasks)
    solution = allocate_in_domains(session, job, work)
    if solution is None or not session.is_ready(job):
        return False
    solution.statement.commit()
    decide(session, job, solution)
    return bool(work.sub_jobs)
