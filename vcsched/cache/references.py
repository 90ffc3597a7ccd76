"""What an event about a job is attached to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.kube.keys import SCHEDULING_API
from vcsched.kube.link import Reference

if TYPE_CHECKING:
    from vcsched.model.job import Job


def reference_of(job: Job) -> Reference:
    """The PodGroup; a pod of the job, where the group is kept in the cache only."""
    task = next(iter(job.tasks.values()), None)
    if job.obj is None and task is not None:
        return Reference("Pod", task.namespace, task.name, task.uid)
    return Reference("PodGroup", job.namespace, job.name, job.uid, SCHEDULING_API)
