"""drf: jobs in the order of their dominant shares, and preemption towards equal ones (spec 05 §6).

With `enableHierarchy` also queues, by the shares of the hierarchy that their annotations describe. `pods` is
a resource like the others here, so jobs of many small pods have a large share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from vcsched.framework.plugin import PERMIT, Plugin, compare
from vcsched.plugins.drf.share import Amounts, Shares
from vcsched.plugins.drf.tree import ShareTree

if TYPE_CHECKING:
    from vcsched.columns.table import FloatArray
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.task import Task

SHARE_DELTA = 1e-6
"""Shares that differ by no more count as equal where victims are judged."""


class Drf(Plugin):
    name = "drf"

    _shares: Shares

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self._tree = ShareTree()

    def open(self, ssn: Session) -> None:
        self._shares = Shares(ssn.space, ssn.total, ssn.job_table.charged_cells)
        ssn.job_order.add(self, self.smaller_share_first, key=self._shares.of)
        ssn.preemptable.add(self, self.richer)
        if ssn.configuration.is_hierarchical(self.name):
            self._width = ssn.space.width
            self._tree.begin(ssn)
            ssn.ledgers.add(self, self._tree)
            ssn.queue_order.add(self, self._tree.compare)
            ssn.reclaimable.add(self, self.of_later_queues)

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

    def of_later_queues(self, reclaimer: Task, candidates: Sequence[Task]) -> tuple[Sequence[Task], int]:
        """Tasks whose queue would still come after the reclaimer's if the one gave and the other took; each
        is judged alone."""
        job = reclaimer.job
        if job is None or job.queue is None:
            return (), PERMIT
        taken = self._vector(reclaimer)
        verdicts: dict[tuple[int, int], bool] = {}
        victims = []
        for task in candidates:
            victim = task.job
            if victim is None or victim.queue is None or victim.queue is job.queue:
                continue
            alike = (victim.row, id(task.request))
            if alike not in verdicts:
                changes = {job.row: (job.queue, taken), victim.row: (victim.queue, -self._vector(task))}
                verdicts[alike] = self._tree.compare_after(job.queue, victim.queue, changes) < 0
            if verdicts[alike]:
                victims.append(task)
        return victims, PERMIT

    def _vector(self, task: Task) -> FloatArray:
        """float64[C]: what the task asks."""
        amounts = np.zeros(self._width)
        for column, amount in task.request.items:
            amounts[column] = amount
        return amounts
