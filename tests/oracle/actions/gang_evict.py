"""gangpreempt and gangreclaim: evict whole bundles so that a whole gang fits in a domain (spec 04 §9)."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracle.heap import Heap, in_order
from tests.oracle.hypernodes import ROOT
from tests.oracle.job import Job, SubJob
from tests.oracle.queue import Queue
from tests.oracle.resources import Resources, fits, total_of
from tests.oracle.search import ErrorCache, cache_enabled, choose, feasible, for_gang_trial, not_unresolvable
from tests.oracle.session import Session
from tests.oracle.statement import Operation, Statement
from tests.oracle.task import Task

from .bundles import bundles
from .eviction import with_freed
from .worklist import WorkList

MAX_DOMAINS = 8

Lists = list[tuple[SubJob, list[Task]]]


@dataclass(frozen=True)
class EvictionContext:
    """For whom, and by which action, tasks would be evicted."""

    action: str
    job: Job


def gang_preempt(session: Session) -> None:
    """Inside a queue, by priority."""
    evict_for_gangs(session, "gangpreempt")


def gang_reclaim(session: Session) -> None:
    """Between queues."""
    evict_for_gangs(session, "gangreclaim")


def evict_for_gangs(session: Session, action: str) -> None:
    """The common frame (spec 04 §9.1)."""
    queues: Heap[Queue] = Heap(session.queue_less)
    jobs: dict[str, Heap[Job]] = {}
    for job in session.jobs.values():
        if job.waits_for_admission or not session.is_valid(job) or not session.is_starving(job):
            continue
        if job.queue not in jobs:
            jobs[job.queue] = Heap(session.job_less)
            queues.push(session.queues[job.queue])
        jobs[job.queue].push(job)
    while queues:
        queue = queues.pop()
        if action == "gangreclaim" and session.is_overused(queue):
            continue
        while jobs[queue.name]:
            job = jobs[queue.name].pop()
            statement = Statement(session)
            statement.replay(find_plan(session, EvictionContext(action, job), queue))
            if session.is_pipelined(job):
                statement.commit()
            else:
                statement.discard()


def find_plan(session: Session, context: EvictionContext, queue: Queue) -> list[Operation]:
    """The evictions and promises of the first domain and fewest bundles that work; empty if none do."""
    job = context.job
    lists = pending_lists(session, job)
    tasks = [task for _, part in lists for task in part]
    if not tasks or (context.action == "gangreclaim" and not session.may_reclaim(queue, tasks)):
        return []
    need = total_of(task.request for task in tasks)
    for domain in domains(session, context):
        names = session.topology.table[domain].nodes
        nodes = [session.nodes[name] for name in names]
        free = Resources()
        for node in nodes:
            free.add(node.idle).add(node.releasing)
        victims: list[Task] = []
        for bundle in bundles(session, context, need, names) if names else []:
            victims += bundle.tasks
            free = with_freed(free, bundle.tasks)
            if not fits(need, free):
                continue
            plan = make_plan(session, context, queue, lists, victims, domain)
            if plan is not None:
                return plan
    return []


def pending_lists(session: Session, job: Job) -> Lists:
    """Sub-jobs with their tasks to place, in order; of a ready job only the first (spec 04 §9.1 rule 3)."""
    work = WorkList(session, job)
    tasks = {
        uid: [task for task in in_order(heap.items, session.task_less) if not task.gates]
        for uid, heap in work.tasks.items()
    }
    sub_jobs = [sub_job for sub_job in in_order(work.sub_jobs.items, work.less) if tasks[sub_job.uid]]
    if session.is_ready(job):
        sub_jobs = sub_jobs[:1]
    return [(sub_job, tasks[sub_job.uid]) for sub_job in sub_jobs]


def domains(session: Session, context: EvictionContext) -> list[str]:
    """Domains to try, not too many; the root if the job has no hard topology (spec 04 §9.2)."""
    most = session.argument(context.action, "maxDomains", MAX_DOMAINS)
    most = most if most > 0 else MAX_DOMAINS
    groups = session.topology.gradient(context.job, ROOT, "evict")
    found = list(dict.fromkeys(name for group in groups for name in group))[:most]
    return found if found or context.job.has_hard_topology() else [ROOT]


def make_plan(
    session: Session, context: EvictionContext, queue: Queue, lists: Lists, victims: list[Task], domain: str
) -> list[Operation] | None:
    """Evict the victims and place the sub-jobs on trial; None if the job would not be pipelined (04 §9.5)."""
    job, statement = context.job, Statement(session)
    was_ready = session.is_ready(job)
    for victim in victims:
        statement.evict(victim)
    good = True
    for sub_job, tasks in lists:
        inner = [domain]
        if job.has_hard_topology():
            groups = session.topology.gradient(sub_job, domain, "evict")
            inner = [name for group in groups for name in group]
        good = any(try_sub_job(session, queue, sub_job, tasks, statement, name) for name in inner)
        if not good or was_ready or session.is_pipelined(job):
            break
    good = good and session.is_pipelined(job)
    plan = statement.plan()
    statement.discard()
    return plan if good else None


def try_sub_job(
    session: Session, queue: Queue, sub_job: SubJob, tasks: list[Task], parent: Statement, domain: str
) -> bool:
    """Promise every task of the sub-job a node of the domain, or nothing."""
    statement = Statement(session)
    cache = ErrorCache(cache_enabled(session, "allocate"))
    names = session.topology.table[domain].nodes
    job = session.jobs[tasks[0].job_key]
    placed = all(pipeline_task(session, queue, task, statement, names, cache) for task in tasks)
    if placed and (session.sub_job_is_ready(job, sub_job) or session.sub_job_is_pipelined(job, sub_job)):
        parent.absorb(statement)
        return True
    statement.discard()
    return False


def pipeline_task(
    session: Session, queue: Queue, task: Task, statement: Statement, domain: list[str], cache: ErrorCache
) -> bool:
    if not session.may_allocate(queue, task):
        return False
    mendable = not_unresolvable(session, task)
    names = [name for name in domain if name in mendable] if mendable else domain
    if not names or session.pre_predicate(task):
        return False
    passing, _ = feasible(session, task, names, for_gang_trial, cache)
    name = choose(session, task, passing) if passing else None
    if name is None or not fits(task.request, session.nodes[name].future_idle()):
        return False
    statement.pipeline(task, name)
    return True
