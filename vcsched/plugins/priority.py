"""Priority: higher first, and only the lower may be victims (spec 05 §4).

A job has the priority of its PodGroup's class, a task that of its pod; a sub-job counts as its highest
task. Reclaim is between queues and does not ask for priority.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vcsched.framework.plugin import PERMIT, Plugin, compare
from vcsched.model import readiness

if TYPE_CHECKING:
    from vcsched.framework.points import EvictionContext
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.subjob import SubJob
    from vcsched.model.task import Task

Victims = tuple[Sequence["Task"], int]


class Priority(Plugin):
    name = "priority"

    def open(self, ssn: Session) -> None:
        ssn.job_order.add(self, higher_first, key=lambda job: -job.priority)
        ssn.sub_job_order.add(self, higher_first)
        ssn.task_order.add(self, higher_first, key=lambda task: -task.priority)
        ssn.preemptable.add(self, lower_than_preemptor)
        ssn.unified_evictable.add(self, lower_than_job)
        ssn.job_starving.add(self, lacks_pods)


def higher_first(a: Job | SubJob | Task, b: Job | SubJob | Task) -> int:
    """The higher priority first."""
    return compare(b.priority, a.priority)


def lower_than_preemptor(preemptor: Task, candidates: Sequence[Task]) -> Victims:
    """Tasks of jobs that are lower than the preemptor's, and in its own job lower tasks."""
    job = preemptor.job
    if job is None or not job.attached:
        return (), PERMIT
    return [task for task in candidates if _is_lower(task, preemptor, job)], PERMIT


def _is_lower(task: Task, preemptor: Task, job: Job) -> bool:
    if task.job is job:
        return task.priority < preemptor.priority
    return task.job is not None and task.job.attached and task.job.priority < job.priority


def lower_than_job(evictor: EvictionContext, candidates: Sequence[Task]) -> Victims:
    """Tasks of jobs that are lower than the evicting one; gang reclaim may take any."""
    if evictor.kind == "gangreclaim":
        return candidates, PERMIT
    bound = evictor.job.priority
    return [task for task in candidates if task.job is not None and task.job.priority < bound], PERMIT


def lacks_pods(job: Job) -> bool:
    """Whether a job may still grow; tasks that failed or are going count as lacking."""
    return readiness.ready(job.counts) + readiness.waiting(job.counts) < len(job.tasks)
