"""sla: a job that waited long enough is let through (spec 05 §11.2)."""

from __future__ import annotations

import datetime

from tests.oracle.job import Job
from tests.oracle.points import ABSTAIN, PERMIT, Vote
from tests.oracle.quantity import duration
from tests.oracle.selectors import annotation

from .base import Plugin, compare

KEYS = ("volcano.sh/sla-waiting-time", "sla-waiting-time")


class ServiceLevel(Plugin):
    def waiting_time_s(self, job: Job) -> float | None:
        """The job's own waiting time, else the plugin's."""
        texts = [annotation(job.pod_group, key) for key in KEYS] + [self.arguments.get("sla-waiting-time")]
        times = [duration(text) for text in texts]
        return next((seconds for seconds in times if seconds is not None and seconds > 0), None)

    def deadline(self, job: Job) -> datetime.datetime | None:
        from tests.oracle.session import parse_time

        seconds = self.waiting_time_s(job)
        return None if seconds is None else parse_time(job.created) + datetime.timedelta(seconds=seconds)

    def job_order(self, left: Job, right: Job) -> int:
        left_time, right_time = self.waiting_time_s(left), self.waiting_time_s(right)
        if left_time is None or right_time is None:
            return int(left_time is None) - int(right_time is None)
        return compare(self.deadline(left), self.deadline(right))

    def job_enqueueable(self, job: Job) -> Vote:
        if self.waiting_time_s(job) is None:
            return ABSTAIN
        if not job.created:
            return PERMIT
        deadline = self.deadline(job)
        return PERMIT if deadline is not None and self.session.now >= deadline else ABSTAIN

    job_pipelined = job_enqueueable
