"""The evictor: committed evictions become Evict messages (spec 02 §15).

The pod gets its conditions and event, the PodGroup its event, and the pod is deleted under its UID. The task
is Releasing, which is assumed, until the pod's deletion is seen or the eviction has failed for good.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from vcsched.cache.references import reference_of
from vcsched.kube.link import Condition, Event, Evict, Wrote
from vcsched.model.status import RELEASING

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.model.task import Task

log = logging.getLogger(__name__)


class Evicted(NamedTuple):
    """One eviction, for the question who was evicted, why and for whom."""

    at: float  # unix seconds
    pod: str
    job: str
    reason: str  # the action's name, and for a gang that goes whole what became of it
    beneficiary: str  # key of the job it was made for; "" if for none


class Evictor:
    """Sends evictions; `sent` and `failed` count them since start, `ledger` holds the last ones."""

    def __init__(self, cache: SchedulerCache) -> None:
        self._cache = cache
        self.sent = 0
        self.failed = 0
        self.ledger: deque[Evicted] = deque(maxlen=1000)

    def evict(self, task: Task, reason: str, beneficiary: str = "") -> None:
        """The task is Releasing in the picture already; tell the API server."""
        cache = self._cache
        message = f"Pod is evicted, because of {reason}"
        task.assumed = True
        task.write = number = cache.number(lambda wrote: self._ended(task, number, wrote))
        conditions = (
            Condition("Ready", "False", "Evict", message),
            Condition(
                "DisruptionTarget", "True", "PreemptionByScheduler",
                f"{cache.options.component}: preempting to accommodate a higher priority pod",
            ),
        )  # fmt: skip
        cache.send(
            Evict(
                no=number,
                namespace=task.namespace,
                name=task.name,
                uid=task.uid,
                conditions=conditions,
                message=message,
            )  # fmt: skip
        )
        if task.job is not None:
            cache.send(Event(about=reference_of(task.job), type="Normal", reason="Evict", message=reason))
        self.sent += 1
        self.ledger.append(Evicted(cache.clock(), task.key, task.job_key, reason, beneficiary))

    def _ended(self, task: Task, number: int, wrote: Wrote) -> None:
        if wrote.ok or task.write != number or task.status != RELEASING:
            return
        self.failed += 1
        log.warning("eviction of pod %s failed: %s", task.key, wrote.reason)
        self._cache.revert(task)
