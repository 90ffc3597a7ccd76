"""Metrics of queues; a queue's series go when it goes (spec 02 §20).

A process remembers, per queue, every scalar resource that any family has shown, and sets it to 0 in a
family whose update does not name it, so that no stale amount stays on a dashboard.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

from prometheus_client import CollectorRegistry, Counter, Gauge

from vcsched.framework.metric_kinds import Family

QueueFamily = Literal["allocated", "request", "deserved", "inqueue", "capacity", "real_capacity"]


class QueueMetrics:
    """What queues have, ask, deserve and may have. cpu and scalars in thousandths, memory in bytes."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._queue_cpu, self._queue_memory, self._queue_scalar = (
            {
                family: Family(self._gauge(f"queue_{family}_{unit}", f"Queue {family}, {of}", *labels))
                for family in get_args(QueueFamily)
            }
            for unit, of, labels in (
                ("milli_cpu", "thousandths of a cpu", ("queue_name",)),
                ("memory_bytes", "bytes of memory", ("queue_name",)),
                ("scalar_resources", "other resources", ("queue_name", "resource")),
            )
        )
        self._queue_share = Family(self._gauge("queue_share", "Share of a queue", "queue_name"))
        self._queue_weight = Family(self._gauge("queue_weight", "Weight of a queue", "queue_name"))
        self._queue_overused = Family(self._gauge("queue_overused", "1 if overused", "queue_name"))
        self._evictions = Family(
            Counter(
                "vcsched_evictions_total",
                "Pods of a queue that the API server was asked to delete for another, or the same, queue",
                ("queue", "for_queue", "action", "outcome"),
                registry=registry,
            )
        )
        for name in ("namespace_share", "namespace_weight", "namespace_weighted_share"):
            self._gauge(name, "Not written; exists for dashboards that name it", "namespace_name")
        self._scalars: dict[str, set[str]] = {}  # queue -> scalar names that any family has shown

    def _gauge(self, name: str, help_: str, *labels: str) -> Gauge:
        return Gauge(f"volcano_{name}", help_, labels, registry=self._registry)

    def set_amounts(
        self,
        family: QueueFamily,
        queue: str,
        milli_cpu: float,
        memory_bytes: float,
        scalars: Mapping[str, float],
    ) -> None:
        """The amounts of one family; a scalar that any family ever showed for the queue is 0 if missing."""
        self._queue_cpu[family].at(queue).set(milli_cpu)
        self._queue_memory[family].at(queue).set(memory_bytes)
        names = self._scalars.setdefault(queue, set())
        names.update(scalars)
        for name in names:
            self._queue_scalar[family].at(queue, name).set(scalars.get(name, 0.0))

    def set_share(self, queue: str, share: float) -> None:
        """The queue's share as its plugin counts it."""
        self._queue_share.at(queue).set(share)

    def set_weight(self, queue: str, weight: float) -> None:
        """The queue's weight."""
        self._queue_weight.at(queue).set(weight)

    def set_overused(self, queue: str, overused: bool) -> None:
        """Whether the queue is overused."""
        self._queue_overused.at(queue).set(overused)

    def evicted(self, queue: str, for_queue: str, action: str, deleted: bool) -> None:
        """A pod of a queue went, or was not let go, for a job of a queue ("" for none)."""
        self._evictions.at(queue, for_queue, action, "deleted" if deleted else "refused").inc()

    def gone(self, queue: str) -> None:
        """The queue was deleted: its series and the memory of its scalars go too."""
        for kind in (self._queue_cpu, self._queue_memory, self._queue_scalar):
            for family in kind.values():
                family.drop_all(queue)
        for single in (self._queue_share, self._queue_weight, self._queue_overused):
            single.drop(queue)
        for position in (0, 1):
            self._evictions.drop_all(queue, position)
        self._scalars.pop(queue, None)
