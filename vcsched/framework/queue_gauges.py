"""The gauges of queues: what is shown is remembered, and only what changed is written (spec 05 §18).

For the plugins that share the cluster between queues; each keeps one `QueueGauges` and writes at the close.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from vcsched.columns.space import CPU, MEMORY
from vcsched.model.resources import scale

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

    def write(
        self,
        ssn: Session,
        families: Mapping[QueueFamily, FloatArray],
        share: FloatArray,
        overused: Mapping[str, bool],
        weight: FloatArray | None = None,
    ) -> None:
        """`families` are float64[C, n], `share` and `weight` float64[n], by row; `overused` holds, by name, the
        queues about which something is known."""
        names = {queue.row: queue.name for queue in ssn.queues.values()}
        owner = {queue.row: queue.uid for queue in ssn.queues.values()}
        fresh = {row for row, uid in owner.items() if self._owner.get(row) != uid}
        self._owner = owner
        for row in fresh:
            self._overused.pop(names[row], None)
        metrics = ssn.metrics.queues
        if weight is not None:
            for row in self._changed("weight", weight[None, :], fresh):
                if row in names:
                    metrics.set_weight(names[row], float(weight[row]))
        for row in self._changed("share", share[None, :], fresh):
            if row in names:
                metrics.set_share(names[row], float(share[row]))
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
    """cpu, memory, and the other resources of which there is some and not any amount, in the metrics' units."""
    listed = amounts.tolist()
    scalars = {
        name: amount * scale(name)
        for name, amount in zip(space.names[MEMORY + 1 :], listed[MEMORY + 1 :], strict=True)
        if amount and amount != np.inf
    }
    return listed[CPU], listed[MEMORY], scalars
