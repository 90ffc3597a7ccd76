"""The evictor: committed evictions become Evict messages (spec 02 §15).

The pod gets its conditions and event and is deleted under its UID; its PodGroup gets an event when that is done.
The task is Releasing, which is assumed, until the pod's deletion is seen or the eviction has failed for good. Then
it is what its pod says, the conditions are taken back, and it is left alone for a while (`cache.evictions`).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from vcsched.cache.evictions import DELETED, Evicted, EvictionLedger
from vcsched.cache.nominations import promised_node
from vcsched.cache.references import reference_of
from vcsched.cache.status_writer import DASH
from vcsched.kube.link import Condition, Event, Evict, PodStatus, Wrote
from vcsched.model.status import RELEASING

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.kube.objects import PodCondition
    from vcsched.model.job import Job
    from vcsched.model.task import Task

log = logging.getLogger(__name__)

_V3 = logging.INFO - 3
READY, DISRUPTION_TARGET = "Ready", "DisruptionTarget"
EVICT, PREEMPTION = "Evict", "PreemptionByScheduler"


class Evictor:
    """Sends evictions; `sent` and `failed` count them since start, `ledger` remembers them."""

    def __init__(self, cache: SchedulerCache) -> None:
        self._cache = cache
        self.sent = 0
        self.failed = 0
        self.ledger = EvictionLedger()

    def evict(self, task: Task, reason: str, beneficiary: str = "") -> None:
        """The task is Releasing in the picture already; tell the API server."""
        cache = self._cache
        winner = cache.picture.jobs.get(beneficiary)
        whom = _for_whom(task, winner)
        message = f"Pod is evicted, because of {reason}{whom}"
        entry = Evicted(
            at=cache.clock(),
            pod=task.key,
            job=task.job_key,
            queue=task.job.queue_name if task.job is not None else "",
            reason=reason,
            beneficiary=beneficiary,
            to_queue=winner.queue_name if winner is not None else "",
        )
        self.ledger.latest.append(entry)
        task.assumed = True
        was_ready = self._readiness(task)

        def ended(wrote: Wrote) -> None:
            if wrote.ok:
                self._deleted(task, entry, reason + whom)
            else:
                self._refused(task, number, wrote, entry, was_ready)

        task.write = number = cache.number(ended)
        conditions = (
            Condition(READY, "False", EVICT, message),
            Condition(
                DISRUPTION_TARGET, "True", PREEMPTION,
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
        self.sent += 1
        log.log(_V3, "evicting pod %s of queue %s: %s%s", task.key, entry.queue, reason, whom)

    def _deleted(self, task: Task, entry: Evicted, reason: str) -> None:
        self.ledger.end(entry, DELETED)
        self.ledger.let_go(task)
        winner = self._cache.picture.jobs.get(entry.beneficiary)
        if winner is not None and entry.to_queue != entry.queue:
            self.ledger.won(winner, entry.queue)
        if task.job is not None:
            about = reference_of(task.job)
            self._cache.send(Event(about=about, type="Normal", reason=EVICT, message=reason))

    def _refused(self, task: Task, number: int, wrote: Wrote, entry: Evicted, was_ready: PodCondition | None) -> None:
        self.ledger.end(entry, wrote.reason)
        if task.write != number or task.status != RELEASING:
            return
        self.failed += 1
        cache = self._cache
        cache.revert(task)
        now = cache.clock()
        refusal = self.ledger.refused(task, wrote.reason, now, was_ready)
        again = f"it is left alone for {refusal.until - now:.0f} s" if refusal.until > now else "it is tried once more"
        said = f"pod {task.key} could not be evicted: {wrote.reason}; {again}"
        log.warning("%s (%s, for job %s)", said, entry.reason, entry.beneficiary)
        self._take_back(task, was_ready)
        winner = cache.picture.jobs.get(entry.beneficiary)
        if winner is not None:
            cache.send(Event(about=reference_of(winner), type="Warning", reason="EvictionRefused", message=said))
            for waiting in winner.pending.values():
                if promised_node(waiting) == task.node_name:
                    cache.status_writer.clear_nomination(waiting)

    def _readiness(self, task: Task) -> PodCondition | None:
        """The pod's condition Ready as its kubelet wrote it, also while the last attempt is being taken back."""
        shown = next((c for c in task.pod.status.conditions if c.type == READY), None)
        known = self.ledger.refusals.get(task.uid)
        return known.was_ready if known is not None and shown is not None and shown.reason == EVICT else shown

    def _take_back(self, task: Task, was_ready: PodCondition | None) -> None:
        """The pod goes on, so it is no more unready than it was: services leave out what is not."""
        conditions = [Condition(DISRUPTION_TARGET, "False", PREEMPTION, "the eviction was refused")]
        if was_ready is not None:
            conditions.append(Condition(READY, was_ready.status, was_ready.reason, was_ready.message))
        cache = self._cache
        cache.send(
            PodStatus(
                no=cache.number(lambda wrote: None),  # the kubelet says whether it is ready anyway
                namespace=task.namespace,
                name=task.name,
                uid=task.uid,
                conditions=tuple(conditions),
            )  # fmt: skip
        )


def _for_whom(task: Task, winner: Job | None) -> str:
    """Who the room is for, as far as the owner of the pod may know: jobs of other namespaces have no name here."""
    if winner is None:
        return ""
    if winner.namespace == task.namespace:
        return f"{DASH}for job {winner.name}"
    return f"{DASH}for a job of queue {winner.queue_name}"
