"""SchedulerCache: the one picture of the cluster, and the only way in and out of it.

Belongs to the session thread. `drain` takes in everything that arrived on the link; `begin_session` brings
derived sums up to date; binder, evictor and status writer turn a session's decisions into messages. What a
session writes is assumed until the reply or the watch confirms it, and reverts on final failure
(DESIGN 1.1, 1.7).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from vcsched.cache.accounting import Accounting
from vcsched.cache.binder import Binder
from vcsched.cache.contributions import contribution
from vcsched.cache.evictor import Evictor
from vcsched.cache.forms import Forms, ShapeKey
from vcsched.cache.groups import Groups
from vcsched.cache.handlers import HANDLERS, pods
from vcsched.cache.options import CacheOptions
from vcsched.cache.picture import Picture
from vcsched.cache.podcounters import PodCounters
from vcsched.cache.references import reference_of
from vcsched.cache.shapes import Shapes
from vcsched.cache.status_writer import StatusWriter
from vcsched.kube.keys import GROUP_NAME
from vcsched.kube.link import (
    Deleted,
    Event,
    Link,
    Outbound,
    Question,
    Reference,
    Refused,
    Synced,
    Upsert,
    Wrote,
)
from vcsched.kube.objects import KINDS
from vcsched.model.job import Job
from vcsched.model.task import Task

log = logging.getLogger(__name__)


class SchedulerCache:
    """See the module's text. `clock` gives unix seconds."""

    def __init__(
        self,
        link: Link | None = None,
        options: CacheOptions | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.link = link or Link()
        self.options = options or CacheOptions()
        self.clock = clock
        self.picture = Picture()
        self.picture.counters = PodCounters(self.picture)
        self.shapes = Shapes(self.picture)
        self.accounting = Accounting(self.picture)
        self.forms = Forms(self.picture.space)
        self.groups = Groups(self)
        self.binder = Binder(self)
        self.evictor = Evictor(self)
        self.status_writer = StatusWriter(self)
        self.synced: set[type] = set()
        self.refused: dict[tuple[str, str], str] = {}  # (kind, key) -> why an object cannot be used
        self.gone_jobs: list[Job] = []  # dropped since the last session, for metrics
        self.gone_queues: list[str] = []
        self.questions: list[Question] = []
        self._outbox: list[Outbound] = []
        self._waiting: dict[int, Callable[[Wrote], None]] = {}
        self._last_no = 0

    # ------------------------------------------------------------------ in

    def drain(self) -> bool:
        """Take in everything that has arrived. True if the picture changed."""
        messages = self.link.drain()
        changed = False
        for message in messages:
            kind = type(message)
            if kind is Upsert:
                changed = True
                self._upsert(message.obj)  # type: ignore[union-attr]
            elif kind is Deleted:
                changed = True
                self._delete(message)  # type: ignore[arg-type]
            elif kind is Wrote:
                changed = self._wrote(message) or changed  # type: ignore[arg-type]
            elif kind is Synced:
                self.synced.add(message.kind)  # type: ignore[union-attr]
            elif kind is Refused:
                self.refuse_named(KINDS[message.kind].kind, message.key, message.reason)  # type: ignore[union-attr]
            elif kind is Question:
                self.questions.append(message)  # type: ignore[arg-type]
        if changed:
            self.picture.changes += 1
        self.flush()
        return changed

    def _upsert(self, obj: Any) -> None:
        """One object; what goes wrong with it stays with it."""
        kind = type(obj)
        meta = obj.metadata
        key = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        self.refused.pop((KINDS[kind].kind, key), None)
        try:
            HANDLERS[kind].upsert(self, obj)
        except Exception as error:
            log.exception("%s %s could not be taken in", KINDS[kind].kind, key)
            self.refuse_named(KINDS[kind].kind, key, f"could not be taken in: {error!r}")

    def _delete(self, message: Deleted) -> None:
        self.refused.pop((KINDS[message.kind].kind, message.key), None)
        try:
            HANDLERS[message.kind].delete(self, message.key, message.uid)
        except Exception:
            log.exception("deletion of %s %s could not be taken in", KINDS[message.kind].kind, message.key)

    # ------------------------------------------------------------------ writes

    def number(self, when_done: Callable[[Wrote], None]) -> int:
        """A number for a write; `when_done` gets its result in a later drain."""
        self._last_no += 1
        self._waiting[self._last_no] = when_done
        return self._last_no

    def send(self, message: Outbound) -> None:
        """Put a message into the outbox; `flush` hands it to the I/O side."""
        self._outbox.append(message)

    def flush(self) -> None:
        if self._outbox:
            self.link.send(self._outbox)
            self._outbox = []

    def _wrote(self, message: Wrote) -> bool:
        """A write ended. A reply that carries the object is as good as its watch event."""
        when_done = self._waiting.pop(message.no, None)
        if message.ok and message.obj is not None and type(message.obj) in HANDLERS:
            self._upsert(message.obj)
        if when_done is not None:
            when_done(message)
        return not message.ok or message.obj is not None

    @property
    def writes_in_flight(self) -> int:
        return len(self._waiting)

    # ------------------------------------------------------------------ sessions

    def begin_session(self) -> None:
        """Bring what queues reserve for their jobs up to date for the jobs that changed; forget what nobody
        asked the pod counters for lately."""
        self.picture.counters.sweep()
        stale = self.picture.stale_contributions
        for job in stale.values():
            if job.queue is not None:
                self.accounting.set_contribution(job, contribution(job, self.picture))
        stale.clear()

    def set_bare_pods(self, wanted: bool) -> None:
        """Whether pods without PodGroup are scheduled; a change takes all such pods up, or lets them go."""
        if wanted == self.options.bare_pods:
            return
        self.options = replace(self.options, bare_pods=wanted)
        for task in list(self.picture.tasks.values()):
            if not task.pod.metadata.annotations.get(GROUP_NAME):
                pods.rebuild(self, task)

    def set_shape_keys(self, keys: Iterable[ShapeKey]) -> None:
        """Plugins changed, and with them what a form is made of: read all pods anew."""
        keys = tuple(keys)
        if keys == self.forms.shape_keys:
            return
        self.forms.shape_keys = keys
        for task in self.picture.tasks.values():
            task.form = self.forms.form(task.pod, task.request)
            task.match_version = -1

    # ------------------------------------------------------------------ bad input

    def refuse_named(self, kind: str, key: str, reason: str) -> None:
        """An object cannot be used; said once in the log, and kept for `explain` and the metric."""
        if self.refused.get((kind, key)) != reason:
            self.refused[(kind, key)] = reason
            log.warning("%s %s: %s", kind, key, reason)

    def refuse_object(self, job: Job, reason: str) -> None:
        """Something about a PodGroup cannot be used: the log, and an event on the object."""
        if self.refused.get(("PodGroup", job.key)) == reason:
            return
        self.refuse_named("PodGroup", job.key, reason)
        self.send(Event(about=reference_of(job), type="Warning", reason="Invalid", message=reason))

    def refuse_pod(self, pod: Any, reason: str) -> None:
        """A pod cannot be used: the log, and an event on the pod."""
        meta = pod.metadata
        key = f"{meta.namespace}/{meta.name}"
        if self.refused.get(("Pod", key)) == reason:
            return
        self.refuse_named("Pod", key, reason)
        about = Reference("Pod", meta.namespace, meta.name, meta.uid)
        self.send(Event(about=about, type="Warning", reason="FailedScheduling", message=reason))

    def revert(self, task: Task) -> None:
        """A write about a task failed for good: it is what its pod says (binding or eviction undone)."""
        pods.revert(self, task)
