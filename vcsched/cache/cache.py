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
from vcsched.cache.compaction import compact_if_due
from vcsched.cache.contributions import contribution
from vcsched.cache.evictor import Evictor
from vcsched.cache.forms import Forms, ShapeKey
from vcsched.cache.groups import Groups
from vcsched.cache.handlers import HANDLERS, pods
from vcsched.cache.options import CacheOptions
from vcsched.cache.picture import Picture
from vcsched.cache.podcounters import PodCounters
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

_MANY = 64  # messages that are worth being handed over while a session goes on

LOGGED = 100_000  # changed rows that are remembered; who is further behind looks at all rows anyway


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
        self._flaw_before = ("", ""), ""  # what was wrong with the object that is being taken in
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
                self._refuse_unread(message)  # type: ignore[arg-type]
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
        name = (KINDS[kind].kind, key)
        self._flaw_before = name, self.refused.pop(name, "")
        try:
            HANDLERS[kind].upsert(self, obj)
        except Exception as error:
            log.exception("%s %s could not be taken in", *name)
            self.refuse_named(*name, f"could not be taken in: {error!r}")
        self._flaw_before = ("", ""), ""

    def _refuse_unread(self, message: Refused) -> None:
        """The I/O side could not read an object; as a version that it could read stays in force, so does it."""
        resource = KINDS[message.kind]
        namespace, _, name = message.key.rpartition("/")
        about = Reference(resource.kind, namespace, name, message.uid, resource.api_version)
        self.refuse_object(about, message.reason)

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

    def flush_if_many(self) -> None:
        """For the middle of a session: hand over what waits if that is worth the way."""
        if len(self._outbox) >= _MANY:
            self.flush()

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
        """Bring what queues reserve for their jobs up to date for the jobs that changed; let go of rows of nodes
        that are gone, of changes that everybody has seen, and of pod counters that nobody asked for lately."""
        picture = self.picture
        compact_if_due(picture)
        picture.room_log.trim(LOGGED)
        picture.node_log.trim(LOGGED)
        picture.counters.sweep()
        stale = picture.stale_contributions
        for job in stale.values():
            if job.queue is not None:
                self.accounting.set_contribution(job, contribution(job, picture))
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

    def refuse_named(self, kind: str, key: str, reason: str) -> bool:
        """An object cannot be used: kept for `explain` and the metric, said once in the log. True if it is new."""
        name = (kind, key)
        before = self._flaw_before[1] if self._flaw_before[0] == name else self.refused.get(name)
        self.refused[name] = reason
        if before == reason:
            return False
        log.warning("%s %s: %s", kind, key, reason)
        return True

    def refuse_object(self, about: Reference, reason: str) -> None:
        """The same, with an event on the object."""
        key = f"{about.namespace}/{about.name}" if about.namespace else about.name
        if self.refuse_named(about.kind, key, reason):
            self.send(Event(about=about, type="Warning", reason="Invalid", message=reason))

    def keep_refusal(self) -> None:
        """The object that is being taken in was not read again, so what was wrong with it still is."""
        name, flaw = self._flaw_before
        if flaw:
            self.refused[name] = flaw

    def revert(self, task: Task) -> None:
        """A write about a task failed for good: it is what its pod says (binding or eviction undone)."""
        pods.revert(self, task)
