"""drf, flat: jobs in the order of their dominant shares, and preemption towards equal ones (spec 05 §6.1).

`pods` is a resource like the others here, so jobs of many small pods have a large share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vcsched.framework.plugin import PERMIT, Plugin, compare
from vcsched.plugins.drf.share import Amounts, Shares

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.task import Task

SHARE_DELTA = 1e-6
"""Shares that differ by no more count as equal where victims are judged."""


class Drf(Plugin):
    name = "drf"

    _shares: Shares

    def open(self, ssn: Session) -> None:
        self._shares = Shares(ssn.space, ssn.total, ssn.job_table.charged_cells)
        ssn.job_order.add(self, self.smaller_share_first)
        ssn.preemptable.add(self, self.richer)

    def close(self, ssn: Session) -> None:
        for job in ssn.touched.values():
            if job.attached:
                ssn.metrics.jobs.set_share(job.namespace, job.name, self._shares.of(job))

    def smaller_share_first(self, a: Job, b: Job) -> int:
        """The job that has less comes first."""
        share = self._shares.of
        return compare(share(a), share(b))

    def richer(self, preemptor: Task, candidates: Sequence[Task]) -> tuple[Sequence[Task], int]:
        """Tasks whose jobs keep at least the share that the preemptor's job would then have.

        Each candidate is taken off its job whether or not it is chosen, so later ones of the same job look
        poorer.
        """
        job = preemptor.job
        if job is None or not job.attached:
            return (), PERMIT
        shares = self._shares
        wanted = shares.amounts(job)
        shares.change(wanted, preemptor, 1.0)
        mine = shares.of_amounts(wanted)
        left: dict[str, Amounts] = {}
        victims = []
        for task in candidates:
            victim = task.job
            if victim is None or not victim.attached:
                continue
            if victim.key not in left:
                left[victim.key] = shares.amounts(victim)
            rest = left[victim.key]
            shares.change(rest, task, -1.0)
            if mine - shares.of_amounts(rest) <= SHARE_DELTA:
                victims.append(task)
        return victims, PERMIT
