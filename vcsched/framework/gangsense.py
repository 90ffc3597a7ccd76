"""Gang sense: what a gang loses when one of its pods is evicted (design-notes §7 row 26).

A pod above the minimum of its gang is lost alone. One that the minimum needs takes the use of all others
with it, so the gang goes whole or not at all. Minima are those of the job, of the pod's role and of its
sub-groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.model import readiness
from vcsched.model.status import HOLDING

if TYPE_CHECKING:
    from vcsched.model.job import Job
    from vcsched.model.task import Task


def breaks(task: Task) -> bool:
    """Whether a gang that is whole now would not be without this task; a single pod is no gang."""
    job = task.job
    if job is None or job.min_available < 2 or not is_whole(job):
        return False
    if spare(job) <= 0:
        return True
    return _role_needs(job, task) or _groups_need(job, task)


def spare(job: Job) -> int:
    """How many pods a gang that is whole can lose, as far as the job's own minimum goes."""
    return readiness.counted(job.counts) - job.min_available


def others(task: Task) -> list[Task]:
    """The rest of the gang that holds room."""
    assert task.job is not None
    return [other for other in task.job.tasks.values() if other is not task and other.status in HOLDING]


def loss(task: Task) -> int:
    """How many pods are lost with this one, itself included."""
    return readiness.holding(task.job.counts) if task.job is not None and breaks(task) else 1


def is_whole(job: Job) -> bool:
    """Whether the gang has all its minima."""
    if readiness.counted(job.counts) < job.min_available:
        return False
    return not (job.role_minimum or job.policies) or (job.roles_ready() and job.groups_reach("is_ready"))


def _role_needs(job: Job, task: Task) -> bool:
    least = job.role_minimum.get(task.role, 0) if job.roles_enforced else 0
    return least > 0 and job.role_ready_count(task.role) <= least


def _groups_need(job: Job, task: Task) -> bool:
    sub = task.subjob
    least = job.group_minimums().get(sub.policy, 0) if sub is not None else 0
    if sub is None or not least or not sub.is_ready():
        return False
    if readiness.counted(sub.counts) > sub.min_available:
        return False
    return sum(1 for other in job.subjobs.values() if other.policy == sub.policy and other.is_ready()) <= least
