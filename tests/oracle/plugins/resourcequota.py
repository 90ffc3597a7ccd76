"""resourcequota: a job is admitted only if its minimum fits the namespace's quotas (spec 05 §11.3)."""

from __future__ import annotations

from fractions import Fraction

from tests.oracle.job import Job
from tests.oracle.points import PERMIT, REJECT, Vote
from tests.oracle.quantity import quantity

from .base import Plugin


class ResourceQuota(Plugin):
    def open(self) -> None:
        self.pending: dict[str, dict[str, Fraction]] = {}  # namespace -> admitted in this session

    def job_enqueueable(self, job: Job) -> Vote:
        pending = self.pending.get(job.namespace, {})
        for status in self.session.quotas.get(job.namespace, []):
            hard, used = status.get("hard") or {}, status.get("used") or {}
            for name, text in (job.min_resources_list or {}).items():
                if name not in hard:
                    continue
                after = quantity(used.get(name, 0)) + pending.get(name, 0) + quantity(text)
                if after > quantity(hard[name]):
                    return REJECT
        return PERMIT

    def job_enqueued(self, job: Job) -> None:
        pending = self.pending.setdefault(job.namespace, {})
        for name, text in (job.min_resources_list or {}).items():
            pending[name] = pending.get(name, Fraction(0)) + quantity(text)
