"""gang: all or nothing (spec 05 §3)."""

from __future__ import annotations

from tests.oracle.job import Job, SubJob
from tests.oracle.points import PERMIT, REJECT, Vote
from tests.oracle.task import READY, VALID, Task

from .base import Plugin


class Gang(Plugin):
    def job_valid(self, job: Job) -> bool:
        """Enough tasks exist (spec 05 §3.1)."""
        if job.minimum >= job.role_minimum_sum:
            for role, minimum in job.role_minimum.items():
                if minimum and sum(task.role == role and task.status in VALID for task in job.tasks) < minimum:
                    return False
        return job.sub_groups_reach_minimum(lambda sub_job: True) and job.count(*VALID) >= job.minimum

    # ---- readiness (spec 05 §3.2)

    def job_ready(self, job: Job) -> bool:
        return job.roles_reach_minimum(READY) and job.sub_groups_reach_minimum(SubJob.is_ready) and job.is_ready()

    def sub_job_ready(self, sub_job: SubJob) -> bool:
        return sub_job.is_ready()

    def job_pipelined(self, job: Job) -> Vote:
        good = (
            job.roles_reach_minimum((*READY, "Pipelined"))
            and job.sub_groups_reach_minimum(SubJob.is_pipelined)
            and job.is_pipelined()
        )
        return PERMIT if good else REJECT

    def sub_job_pipelined(self, sub_job: SubJob) -> Vote:
        return PERMIT if sub_job.is_pipelined() else REJECT

    def job_starving(self, job: Job) -> bool:
        return job.waiting_count() + job.ready_count() < job.minimum

    # ---- order: who is not ready yet goes first (spec 05 §3.3)

    def job_order(self, left: Job, right: Job) -> int:
        return int(left.is_ready()) - int(right.is_ready())

    def sub_job_order(self, left: SubJob, right: SubJob) -> int:
        return int(left.is_ready()) - int(right.is_ready())

    # ---- victims: only what a gang has above its minimum (spec 05 §3.4)

    def preemptable(self, evictor: Task, candidates: list[Task]) -> tuple[list[Task], Vote]:
        left: dict[str, int] = {}
        victims = []
        for task in candidates:
            job = self.session.jobs.get(task.job_key)
            if job is None:
                continue
            if left.setdefault(job.key, job.ready_count()) > job.minimum:
                left[job.key] -= 1
                victims.append(task)
        return victims, PERMIT

    reclaimable = preemptable

    def unified_evictable(self, context: object, candidates: list[Task]) -> tuple[list[Task], Vote]:
        return list(candidates), PERMIT

    def close(self) -> None:
        """Mark the jobs that are not ready (spec 05 §3.5)."""
        for job in self.session.jobs.values():
            if not job.tasks or job.is_ready():
                continue
            releasing = job.releasing_count()
            only_leaving = releasing and not job.count("Pending", "Pipelined")
            if only_leaving and job.scheduled_count() + releasing >= job.minimum:
                continue
            job.marked_unschedulable = True
