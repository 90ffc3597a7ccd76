"""Queues: limits from their objects, sums and reservations from the jobs attached to them (design-notes §4, 6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from vcsched.cache.accounting import CONTRIBUTIONS
from vcsched.cache.handlers.queues import limits_of
from vcsched.cache.verify.differences import Recomputed, same, same_objects

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue


def verify_queues(picture: Picture) -> None:
    """Every column of the queue table. Columns of jobs must have been found right before."""
    table = picture.queue_table
    names = {queue.row: name for name, queue in picture.queues.items()}
    same("queue table", "rows in use", table.in_use, len(names))
    same("queue table", "one row a queue", len(names), len(picture.queues))

    attached: dict[str, dict[str, Job]] = {name: {} for name in picture.queues}
    for key, job in picture.jobs.items():
        if job.queue is not None:
            attached[job.queue.name][key] = job
    fresh = Recomputed(table, lambda row: f"queue {names.get(row, f'of row {row}, which is gone')}")
    for name, queue in picture.queues.items():
        same_objects(f"queue {name}", "jobs", queue.jobs, attached[name])
        _recompute(picture, queue, fresh)
    fresh.compare()
    for name, queue in picture.touched_queues.items():
        same("touched queues", name, picture.queues.get(name), queue)


def _recompute(picture: Picture, queue: Queue, fresh: Recomputed) -> None:
    row, jobs = queue.row, picture.job_table
    for job in queue.jobs.values():
        for name in ("alloc", "charged", "requested"):
            fresh[name][:, row] += getattr(jobs, name)[:, job.row]
        for kind, column, amount in job.contribution or ():
            fresh[CONTRIBUTIONS[kind]][column, row] += amount
    fresh["jobs"][row] = len(queue.jobs)
    fresh["alive"][row] = True
    fresh["weight"][row] = queue.obj.spec.weight
    fresh["capability"][:, row] = math.inf
    for field, (amounts, _) in limits_of(queue.obj, picture.space).items():
        for name, amount in amounts.items():
            fresh[field][picture.space.index[name], row] = amount
