"""preempt: make room inside a queue by evicting lesser jobs, then lesser tasks of the own job (04 §6)."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.heap import Heap
from tests.oracle.job import Job
from tests.oracle.node import Node
from tests.oracle.queue import Queue
from tests.oracle.resources import fits
from tests.oracle.search import (
    UNRESOLVABLE,
    ErrorCache,
    by_shard,
    cache_enabled,
    feasible,
    for_eviction,
    not_unresolvable,
    scores,
)
from tests.oracle.session import Session
from tests.oracle.statement import Statement
from tests.oracle.task import Task

from .dry_run import topology_aware
from .eviction import pending_heap, tasks_on, with_freed

VictimFilter = Callable[[Task], bool]


def preempt(session: Session) -> None:
    cache = ErrorCache(cache_enabled(session, "preempt"))
    queues: Heap[Queue] = Heap(session.queue_less)
    jobs: dict[str, list[Job]] = {}
    for job in session.jobs.values():
        if job.waits_for_admission or not session.is_valid(job) or not session.is_starving(job):
            continue
        if job.wants_topology():
            continue
        if job.queue not in jobs:
            jobs[job.queue] = []
            queues.push(session.queues[job.queue])
        jobs[job.queue].append(job)
    heaps = {name: Heap(session.job_less, of_queue) for name, of_queue in jobs.items()}
    work = {job.key: pending_heap(session, job) for of_queue in jobs.values() for job in of_queue}
    while queues:
        queue = queues.pop()
        heap = heaps[queue.name]
        while heap:
            job = heap.pop()
            between_jobs(session, job, work[job.key], cache)
        for job in jobs[queue.name]:
            inside_job(session, job, cache)


def between_jobs(session: Session, job: Job, work: Heap[Task], cache: ErrorCache) -> None:
    """Stage one: victims of other jobs of the queue; committed only if the job ends pipelined (04 §6.2)."""
    statement = Statement(session)
    while session.is_starving(job) and work:
        task = work.pop()

        def is_victim(other: Task, task: Task = task) -> bool:
            other_job = session.jobs.get(other.job_key)
            if other_job is None or other_job is job or other_job.queue != job.queue:
                return False
            return may_be_victim(task, other)

        attempt(session, task, statement, is_victim, cache)
    if session.is_pipelined(job):
        statement.commit()
    else:
        statement.discard()


def inside_job(session: Session, job: Job, cache: ErrorCache) -> None:
    """Stage two: victims of the own job, task by task until one fails (spec 04 §6.3)."""
    work = pending_heap(session, job)
    while work:
        task = work.pop()

        def is_victim(other: Task, task: Task = task) -> bool:
            return may_be_victim(task, other) and other.job_key == task.job_key

        statement = Statement(session)
        if not attempt(session, task, statement, is_victim, cache):
            statement.discard()
            break
        statement.commit()


def may_be_victim(task: Task, other: Task) -> bool:
    """A best-effort task may only evict best-effort tasks."""
    started = other.status in ("Bound", "Running")
    return started and other.preemptable and (not task.best_effort or other.best_effort)


def attempt(session: Session, task: Task, parent: Statement, is_victim: VictimFilter, cache: ErrorCache) -> bool:
    """One preemption attempt (spec 04 §6.4)."""
    if not is_eligible(session, task) or session.pre_predicate(task):
        return False
    passing, _ = feasible(session, task, not_unresolvable(session, task), for_eviction, cache)
    dry_run = session.argument("preempt", "enableTopologyAwarePreemption", False) is True
    variant = topology_aware if dry_run else normal
    return any(variant(session, task, parent, is_victim, group) for group in by_shard(session, passing) if group)


def is_eligible(session: Session, task: Task) -> bool:
    """Not one that never preempts, nor one whose nominated node is being freed already (spec 04 §6.4)."""
    if task.never_preempts:
        return False
    if not task.nominated_node:
        return True
    node = session.nodes.get(task.nominated_node)
    if node is None:
        return False
    reasons = session.predicate(task, node)
    if not reasons:
        return False
    if any(code == UNRESOLVABLE for code, _ in reasons):
        return True
    leaving = [other for other in node.tasks() if other.pod_priority < task.pod_priority and other.terminating]
    return not any(was_preempted(other) for other in leaving)


def was_preempted(task: Task) -> bool:
    for condition in task.pod_status.get("conditions") or []:
        if condition["type"] == "DisruptionTarget":
            return bool(condition["status"] == "True" and condition.get("reason") == "PreemptionByScheduler")
    return False


def victims_on(session: Session, task: Task, node: Node, is_victim: VictimFilter) -> list[Task] | None:
    """Approved victims of a node; None if even all of them would not make room."""
    candidates = [other for other in tasks_on(session, node) if is_victim(other)]
    victims = session.victims("preemptable", task, candidates)
    return victims if fits(task.request, with_freed(node.future_idle(), victims)) else None


def normal(session: Session, task: Task, parent: Statement, is_victim: VictimFilter, names: list[str]) -> bool:
    """The best-scored node on which evictions, one by one, let the task pass (spec 04 §6.5)."""
    points = scores(session, task, names)
    queue = session.queues[session.jobs[task.job_key].queue]
    for name in sorted(names, key=lambda name: -points[name]):
        node = session.nodes[name]
        victims = victims_on(session, task, node, is_victim)
        if victims is None:
            continue
        statement = Statement(session)
        heap = session.victim_heap(task, victims)
        passes = now_passes(session, queue, task, node)
        while not passes and heap:
            statement.evict(heap.pop())
            passes = now_passes(session, queue, task, node)
        if passes:
            statement.pipeline(task, name)
            parent.absorb(statement)
            return True
        statement.discard()
    return False


def now_passes(session: Session, queue: Queue, task: Task, node: Node) -> bool:
    if not session.may_allocate(queue, task) or not fits(task.request, node.future_idle()):
        return False
    return not session.predicate(task, node)
