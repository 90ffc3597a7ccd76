"""The world by names: what two caches must agree on, whatever rows and columns their objects have got."""

from __future__ import annotations

from typing import Any

from vcsched.cache.cache import SchedulerCache
from vcsched.cache.picture import Picture
from vcsched.columns.table import Table
from vcsched.model.job import Job
from vcsched.model.task import Task


def portrait(cache: SchedulerCache) -> dict[str, Any]:
    """Everything that decisions depend on. Orders among equals and what is assumed are left out."""
    cache.begin_session()
    picture = cache.picture
    return {
        "nodes": {name: _row(picture.nodes, node.row) for name, node in picture.nodes_by_name.items()},
        "queues": {name: _row(picture.queue_table, queue.row) for name, queue in picture.queues.items()},
        "jobs": {key: _job(picture, job) for key, job in picture.jobs.items()},
        "tasks": {uid: _task(task) for uid, task in picture.tasks.items()},
        "sets": {name: set(getattr(picture, name)) for name in ("attached", "placeable", "best_effort")},
        # the phase of a group that is kept in the cache only is nowhere else
        "waiting": {key for key, job in picture.waiting_admission.items() if not job.bare},
        "without node": {name: set(tasks) for name, tasks in picture.tasks_without_node.items()},
        "without queue": {name: set(jobs) for name, jobs in picture.jobs_without_queue.items()},
        "refused": cache.refused,
    }


def _row(table: Table, row: int) -> dict[str, Any]:
    amounts = {name: table.amounts_of(name, row) for name in table.AMOUNTS}
    numbers = {name: getattr(table, name)[row].item() for name in table.NUMBERS}
    limits = {  # a resource that only one of two caches has heard of is unlimited in both
        name: {resource: amount for resource, amount in amounts[name].items() if amount != float("inf")}
        for name in amounts
    }
    return {**amounts, **limits, **numbers}


def _job(picture: Picture, job: Job) -> dict[str, Any]:
    return {
        "sums": _row(picture.job_table, job.row),
        "counts": job.counts,
        "roles": {role: counts for role, counts in job.role_counts.items() if any(counts)},
        "sub-jobs": {key: (sub.counts, sub.min_available) for key, sub in job.subjobs.items() if sub.tasks},
        "tasks": set(job.tasks),
        "queue": job.queue.name if job.queue is not None else None,
        "minimum": (job.min_available, job.min_resources, job.role_minimum),
        "priority": job.priority if job.attached else None,
        "bare": job.bare,
        "phase": job.phase if job.obj is not None else None,
    }


def _task(task: Task) -> dict[str, Any]:
    return {
        "status": task.status,
        "node": task.node.name if task.node is not None else None,
        "node name": task.node_name,
        "request": task.request.by_name,
        "job": task.job_key,
        "sub-job": task.subjob.key if task.subjob is not None else None,
        "flags": (task.role, task.priority, task.preemptable, task.gates, task.best_effort),
    }
