"""overcommit: admit jobs up to a factor of the cluster (spec 05 §11.1)."""

from __future__ import annotations

from tests.oracle.job import Job
from tests.oracle.points import PERMIT, REJECT, Vote
from tests.oracle.resources import Resources, over_limit, plus

from .base import Plugin, is_number

DEFAULT_FACTOR = 1.2


class Overcommit(Plugin):
    def open(self) -> None:
        factor = self.arguments.get("overcommit-factor", DEFAULT_FACTOR)
        factor = float(factor) if is_number(factor) and factor >= 1 else DEFAULT_FACTOR
        self.idle = self.session.total.times(factor)
        for node in self.session.nodes.values():
            self.idle.subtract(node.used)
        self.inqueue = Resources()
        for job in self.session.jobs.values():
            if job.min_resources_list is None:
                continue
            if job.phase == "Inqueue":
                self.inqueue.add(job.without_gated(job.min_resources))
            elif job.phase == "Running" and job.allocated_count() >= job.minimum:
                self.inqueue.add(job.without_gated(job.reserve()))

    def job_enqueueable(self, job: Job) -> Vote:
        if job.min_resources_list is None:
            return PERMIT
        over = over_limit(plus(self.inqueue, job.min_resources), self.idle, job.min_resources)
        return REJECT if over else PERMIT

    def job_enqueued(self, job: Job) -> None:
        if job.min_resources_list is not None:
            self.inqueue.add(job.without_gated(job.min_resources))
