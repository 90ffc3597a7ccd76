"""How many pods of a job may be taken at once (spec 05 §14, §15).

The PodGroup says how many must stay (`jdb-min-available`) or, if it does not say that, how many may be
missing (`jdb-max-unavailable`): a number, or a percentage of the job's pods, rounded up. Who says nothing
loses one at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from vcsched.kube.keys import JDB_MAX_UNAVAILABLE, JDB_MIN_AVAILABLE
from vcsched.model.gotext import parse_int
from vcsched.model.status import FAILED, RUNNING, SUCCEEDED

if TYPE_CHECKING:
    from vcsched.model.job import Job
    from vcsched.model.task import Task


def most_evictions(job: Job) -> int:
    """How many pods of the job may be evicted now."""
    said = job.obj.metadata.annotations if job.obj is not None else {}
    pods, running = len(job.tasks), job.counts[RUNNING]
    if JDB_MIN_AVAILABLE in said:
        must_stay = count_of(said[JDB_MIN_AVAILABLE], pods)
        return running - must_stay if running >= must_stay else 1
    if JDB_MAX_UNAVAILABLE in said:
        missing = pods - job.counts[SUCCEEDED] - job.counts[FAILED] - running
        return max(0, count_of(said[JDB_MAX_UNAVAILABLE], pods) - missing)
    return 1


def count_of(text: str, whole: int) -> int:
    """`3`, or `30%` of `whole` rounded up; 0 for what cannot be read."""
    share = text.endswith("%")
    number = parse_int(text.removesuffix("%"))
    if number is None:
        return 0
    return math.ceil(whole * number / 100) if share else number


def within_budgets(tasks: Iterable[Task]) -> list[Task]:
    """The first tasks of each job, as many as it may lose."""
    left: dict[str, int] = {}
    chosen = []
    for task in tasks:
        job = task.job
        if job is None or not job.attached:
            continue
        if job.key not in left:
            left[job.key] = most_evictions(job)
        if left[job.key] > 0:
            left[job.key] -= 1
            chosen.append(task)
    return chosen
