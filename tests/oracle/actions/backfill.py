"""backfill: place tasks that ask for nothing (spec 04 §5)."""

from __future__ import annotations

from tests.oracle.heap import in_order
from tests.oracle.search import (
    ERROR,
    ErrorCache,
    best_node,
    by_shard,
    cache_enabled,
    feasible,
    predicates_only,
)
from tests.oracle.session import Session
from tests.oracle.statement import Statement, take_back
from tests.oracle.task import Task


def backfill(session: Session) -> None:
    for task in best_effort_tasks(session):
        place(session, task)


def best_effort_tasks(session: Session) -> list[Task]:
    """By queue, job and task order; pipelined ones are taken back first (spec 04 §5 rules 1-2)."""
    by_job: dict[str, list[Task]] = {}
    for job in session.jobs.values():
        if job.waits_for_admission or not session.is_valid(job):
            continue
        for task in job.tasks:
            if task.best_effort and not task.gates and task.status in ("Pending", "Pipelined"):
                if task.status == "Pipelined":
                    take_back(session, task)
                by_job.setdefault(job.key, []).append(task)
    jobs = [session.jobs[key] for key in by_job]
    queues = [session.queues[name] for name in dict.fromkeys(job.queue for job in jobs)]
    return [
        task
        for queue in in_order(queues, session.queue_less)
        for job in in_order([job for job in jobs if job.queue == queue.name], session.job_less)
        for task in in_order(by_job[job.key], session.task_less)
    ]


def place(session: Session, task: Task) -> None:
    """Queue limits are not asked; a bind goes out only when the job is ready (spec 04 §5 rule 4)."""
    job = session.jobs[task.job_key]
    reason = session.pre_predicate(task)
    if reason:
        job.fit_errors[task.uid] = {name: [(ERROR, reason)] for name in session.order}
        return
    cache = ErrorCache(cache_enabled(session, "backfill"))
    passing, errors = feasible(session, task, session.order, predicates_only, cache)
    if not passing:
        job.fit_errors[task.uid] = errors
        return
    if len(passing) == 1:
        name = passing[0]
    else:
        name = best_node(session, task, next(group for group in by_shard(session, passing) if group))
    Statement(session).allocate(task, name)
    if session.is_ready(job):
        for other in job.tasks:
            if other.status == "Allocated":
                other.status = "Binding"
                session.binds[other.key] = other.node
