"""The gauges of queues: what is shown is remembered, and only what changed is written (spec 05 §18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from vcsched.columns.space import CPU, MEMORY
from vcsched.model.resources import scale
from vcsched.plugins.proportion.deserved import shares

if TYPE_CHECKING:
    from vcsched.columns.space import Space
    from vcsched.columns.table import FloatArray
    from vcsched.framework.metric_queues import QueueFamily
    from vcsched.framework.session import Session
    from vcsched.model.resources import Amounts


class QueueGauges:
    """What the series of each queue show, by row of the queue table."""

    def __init__(self) -> None:
        self._shown: dict[str, FloatArray] = {}
        self._owner: dict[int, str] = {}  # row -> uid of the queue whose numbers are shown
        self._overused: dict[str, bool] = {}

    def write(self, ssn: Session, deserved: FloatArray, tolerance: FloatArray, overused: Mapping[str, bool]) -> None:
        """`overused` holds, by name, the queues that were asked about in this session."""
        table, n = ssn.queue_table, ssn.queue_table.n
        names = {queue.row: queue.name for queue in ssn.queues.values()}
        owner = {queue.row: queue.uid for queue in ssn.queues.values()}
        fresh = {row for row, uid in owner.items() if self._owner.get(row) != uid}
        self._owner = owner
        for row in fresh:
            self._overused.pop(names[row], None)
        held = table.charged[:, :n]
        metrics = ssn.metrics.queues
        for row in self._changed("weight", table.weight[None, :n], fresh):
            if row in names:
                metrics.set_weight(names[row], float(table.weight[row]))
        share = shares(held, deserved, tolerance)
        for row in self._changed("share", share[None, :], fresh):
            if row in names:
                metrics.set_share(names[row], float(share[row]))
        families: dict[QueueFamily, FloatArray] = {
            "allocated": held,
            "request": table.requested[:, :n],
            "inqueue": table.inqueue[:, :n],
            "deserved": deserved,
        }
        for family, amounts in families.items():
            for row in self._changed(family, amounts, fresh):
                if row in names:
                    cpu, memory, scalars = _parts(ssn.space, amounts[:, row])
                    metrics.set_amounts(family, names[row], cpu, memory, scalars)
        for name, is_overused in overused.items():
            if self._overused.get(name) != is_overused:
                metrics.set_overused(name, is_overused)
        self._overused |= overused

    def _changed(self, what: str, now: FloatArray, fresh: set[int]) -> list[int]:
        """The rows whose numbers are not the ones shown; `now` is float64[any, rows]."""
        before = self._shown.get(what)
        self._shown[what] = now.copy()
        if before is None or before.shape != now.shape:
            return list(range(now.shape[1]))
        return sorted({*np.flatnonzero((before != now).any(axis=0)).tolist(), *fresh})


def _parts(space: Space, amounts: FloatArray) -> tuple[float, float, Amounts]:
    """cpu, memory, and the other resources of which there is some, in the metrics' units."""
    listed = amounts.tolist()
    scalars = {
        name: amount * scale(name)
        for name, amount in zip(space.names[MEMORY + 1 :], listed[MEMORY + 1 :], strict=True)
        if amount
    }
    return listed[CPU], listed[MEMORY], scalars
