"""reclaim: take back from other queues what the own one deserves (spec 04 §7)."""

from __future__ import annotations

from tests.oracle.heap import Heap
from tests.oracle.job import Job
from tests.oracle.queue import Queue
from tests.oracle.resources import fits
from tests.oracle.search import ErrorCache, by_shard, cache_enabled, feasible, for_eviction, not_unresolvable
from tests.oracle.session import Session
from tests.oracle.statement import Statement
from tests.oracle.task import Task

from .eviction import pending_heap, tasks_on, with_freed


def reclaim(session: Session) -> None:
    queues: Heap[Queue] = Heap(session.queue_less)
    jobs: dict[str, Heap[Job]] = {}
    work: dict[str, Heap[Task]] = {}
    seen: set[str] = set()
    for job in session.jobs.values():
        if job.waits_for_admission or not session.is_valid(job):
            continue
        if job.queue not in seen:
            seen.add(job.queue)
            queues.push(session.queues[job.queue])
        if session.is_starving(job):
            jobs.setdefault(job.queue, Heap(session.job_less)).push(job)
            work[job.key] = pending_heap(session, job)
    while queues:
        queue = queues.pop()
        if session.is_overused(queue):
            continue
        heap = jobs.get(queue.name)
        while heap:
            job = heap.pop()
            reclaim_for(session, queue, job, work[job.key])


def reclaim_for(session: Session, queue: Queue, job: Job, work: Heap[Task]) -> None:
    """Committed only if the job ends pipelined (spec 04 §7 rule 3)."""
    statement = Statement(session)
    while session.is_starving(job) and work:
        task = work.pop()
        if task.never_preempts or not session.may_reclaim(queue, [task]) or session.pre_predicate(task):
            continue
        reclaim_task(session, job, task, statement)
    if session.is_pipelined(job):
        statement.commit()
    else:
        statement.discard()


def reclaim_task(session: Session, job: Job, task: Task, parent: Statement) -> bool:
    """The first node on which enough may be reclaimed (spec 04 §7 rules 4-5)."""
    cache = ErrorCache(cache_enabled(session, "reclaim"))
    passing, _ = feasible(session, task, not_unresolvable(session, task), for_eviction, cache)
    for name in (name for group in by_shard(session, passing) for name in group):
        node = session.nodes[name]
        candidates = [other for other in tasks_on(session, node) if is_reclaimable(session, job, other)]
        if not candidates:
            continue
        victims = session.victims("reclaimable", task, candidates)
        if not fits(task.request, with_freed(node.future_idle(), victims)):
            continue
        statement, room = Statement(session), node.future_idle()
        heap = session.victim_heap(task, victims)
        while heap and not fits(task.request, room):
            victim = heap.pop()
            statement.evict(victim)
            room.add(victim.request)
        if fits(task.request, room):
            statement.pipeline(task, name)
            parent.absorb(statement)
            return True
        statement.discard()
    return False


def is_reclaimable(session: Session, job: Job, other: Task) -> bool:
    other_job = session.jobs.get(other.job_key)
    if other_job is None or other_job.queue == job.queue or not session.queues[other_job.queue].reclaimable:
        return False
    return other.status == "Running" and other.preemptable
