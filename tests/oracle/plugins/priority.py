"""priority: the higher one first (spec 05 §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.job import Job, SubJob
from tests.oracle.points import PERMIT, Vote
from tests.oracle.task import Task

from .base import Plugin, compare

if TYPE_CHECKING:
    from tests.oracle.actions.gang_evict import EvictionContext


class Priority(Plugin):
    def task_order(self, left: Task, right: Task) -> int:
        return compare(right.priority, left.priority)

    def job_order(self, left: Job, right: Job) -> int:
        return compare(right.priority, left.priority)

    def sub_job_order(self, left: SubJob, right: SubJob) -> int:
        return compare(right.priority(), left.priority())

    def job_starving(self, job: Job) -> bool:
        return job.ready_count() + job.waiting_count() < len(job.tasks)

    def preemptable(self, evictor: Task, candidates: list[Task]) -> tuple[list[Task], Vote]:
        """Lower jobs; inside the own job, lower tasks."""
        own_job = self.session.jobs.get(evictor.job_key)
        if own_job is None:
            return [], PERMIT
        victims = []
        for task in candidates:
            job = self.session.jobs.get(task.job_key)
            if job is None:
                continue
            lower = task.priority < evictor.priority if job is own_job else job.priority < own_job.priority
            if lower:
                victims.append(task)
        return victims, PERMIT

    def unified_evictable(self, context: EvictionContext, candidates: list[Task]) -> tuple[list[Task], Vote]:
        if context.action == "gangreclaim":
            return list(candidates), PERMIT
        jobs = self.session.jobs
        return [task for task in candidates if jobs[task.job_key].priority < context.job.priority], PERMIT
