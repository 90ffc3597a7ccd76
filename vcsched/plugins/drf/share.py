"""The dominant share: the largest part of the cluster that somebody has of any resource (spec 05 §6.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.model.algebra import tolerance

if TYPE_CHECKING:
    from vcsched.columns.space import Space
    from vcsched.columns.table import Cells, FloatArray
    from vcsched.model.job import Job
    from vcsched.model.task import Task

Amounts = list[float]
"""One amount for each resource that the cluster has, in the order of `Shares.columns`."""


class Shares:
    """Shares of jobs in one session: they are computed when asked, from what each job is charged then."""

    def __init__(self, space: Space, total: FloatArray, charged: Cells) -> None:
        """`total` is float64[C], the cluster; `charged` the jobs' column of what they are charged."""
        has = [(c, have) for c, have in enumerate(total.tolist()) if have >= tolerance(space.names[c])]
        self.columns = [c for c, _ in has]
        self._totals = [have for _, have in has]
        self._terms = [(charged[c], have) for c, have in has]
        self._place = {c: place for place, c in enumerate(self.columns)}

    def of(self, job: Job) -> float:
        """The dominant share of a job now."""
        row = job.row
        share = 0.0
        for cells, have in self._terms:
            part = cells[row] / have
            if part > share:
                share = part
        return share

    def amounts(self, job: Job) -> Amounts:
        """What a job is charged, to reckon with."""
        row = job.row
        return [cells[row] for cells, _ in self._terms]

    def change(self, amounts: Amounts, task: Task, sign: float) -> None:
        """Add a task's request to amounts, or take it away."""
        for column, amount in task.request.items:
            place = self._place.get(column)
            if place is not None:
                amounts[place] += sign * amount

    def of_amounts(self, amounts: Amounts) -> float:
        """The dominant share of somebody who has these amounts."""
        return max((amount / have for amount, have in zip(amounts, self._totals, strict=True)), default=0.0)
