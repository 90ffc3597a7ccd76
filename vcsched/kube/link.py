"""The link: the one seam between the I/O side and the session thread. Only plain values cross it.

The session thread owns the cache; the I/O side owns sockets. They share no object that either changes
after it was sent: decoded API objects, numbers, texts. Because nothing else crosses, the I/O side may be
a process of its own (`farlink`) without a change above this file (DESIGN 3, design-notes D10).

Inbound (`Inbound`) are API events, write results and questions; outbound (`Outbound`) are numbered writes
and unnumbered events. `drain` and `send` never block.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

M = TypeVar("M")

# ---------------------------------------------------------------- to the session thread


class Upsert(msgspec.Struct, gc=False):
    """An object was added or one of its read fields changed; the kind is the object's type."""

    obj: Any


class Deleted(msgspec.Struct, gc=False):
    """An object is gone from the API server."""

    kind: type
    key: str  # "namespace/name", or "name" for cluster-scoped kinds
    uid: str


class Refused(msgspec.Struct, gc=False):
    """The API server sent an object that cannot be read; `reason` names object, field and value."""

    kind: type
    key: str
    uid: str
    reason: str


class Synced(msgspec.Struct, gc=False):
    """All that the first list of this kind held is on the link (also when the kind is not served)."""

    kind: type


class Wrote(msgspec.Struct, gc=False):
    """A numbered write ended. `status`: the HTTP status, 0 if none came; `obj`: the object in a 2xx reply.

    `seconds` from its first try to its end; `ended` in unix time, 0 where nothing was tried.
    """

    no: int
    ok: bool
    status: int = 0
    reason: str = ""
    obj: Any = None
    seconds: float = 0.0
    ended: float = 0.0


class Question(msgspec.Struct, gc=False):
    """Somebody asks about the picture (dump, explain, …); answered between sessions through `reply`."""

    name: str
    args: dict[str, Any]
    reply: Callable[[Any], None]  # thread-safe, given by the asking side; takes a plain value


Inbound = Upsert | Deleted | Refused | Synced | Wrote | Question

# ---------------------------------------------------------------- to the I/O side


class Reference(msgspec.Struct, frozen=True, gc=False):
    """The object that an event or write is about."""

    kind: str
    namespace: str
    name: str
    uid: str
    api_version: str = "v1"


class Condition(msgspec.Struct, frozen=True, gc=False):
    """A pod condition to set; the writer keeps the transition time while `status` stays the same."""

    type: str
    status: str
    reason: str
    message: str


class Bind(msgspec.Struct, gc=False, tag=True, tag_field="message_type"):
    """Bind a pod: POST pods/NAME/binding with the UID as precondition. `annotations` overlay the pod's."""

    no: int
    namespace: str
    name: str
    uid: str
    node: str
    annotations: dict[str, str] | None = None
    gang: str = ""  # job key; after a failed bind, unsent binds of a gang below its minimum are held


class Evict(msgspec.Struct, gc=False, tag=True, tag_field="message_type"):
    """Evict a pod: conditions, pod event, then DELETE with UID precondition; NotFound is success."""

    no: int
    namespace: str
    name: str
    uid: str
    conditions: tuple[Condition, ...]
    message: str


class PodStatus(msgspec.Struct, gc=False, tag=True, tag_field="message_type"):
    """Set pod conditions and the nominated node (None: leave, "": clear)."""

    no: int
    namespace: str
    name: str
    uid: str
    conditions: tuple[Condition, ...]
    nominated: str | None = None


class PodGroupStatus(msgspec.Struct, gc=False, tag=True, tag_field="message_type"):
    """Set the status (camelCase plain values) and our own annotations of a PodGroup; the rest stays.

    `said`: the types of the conditions that are news. The others are there because a patch replaces the list.
    """

    no: int
    namespace: str
    name: str
    uid: str
    resource_version: str
    status: dict[str, Any]
    annotations: dict[str, str] | None = None
    said: tuple[str, ...] = ()


class QueueStatus(msgspec.Struct, gc=False, tag=True, tag_field="message_type"):
    """Set `status.allocated` of a Queue (resource name -> quantity text)."""

    no: int
    name: str
    allocated: dict[str, str]


class Event(msgspec.Struct, gc=False, tag=True, tag_field="message_type"):
    """Record an Event; unnumbered, aggregated, dropped when the buffer is full (spec 02 §17)."""

    about: Reference
    type: str  # "Normal" or "Warning"
    reason: str
    message: str


Outbound = Bind | Evict | PodStatus | PodGroupStatus | QueueStatus | Event


class Link:
    """Two one-way queues of values. The I/O side sets `on_send`, called after each batch was put."""

    def __init__(self) -> None:
        self._in: deque[Inbound] = deque()
        self._out: deque[Outbound] = deque()
        self._arrived = threading.Event()
        self.on_send: Callable[[], None] | None = None

    # -- session side

    def drain(self) -> list[Inbound]:
        """Everything that has arrived, in order."""
        self._arrived.clear()
        return _taken(self._in)

    def send(self, messages: Iterable[Outbound]) -> None:
        """Hand writes to the I/O side."""
        self._out.extend(messages)
        if self.on_send is not None:
            self.on_send()

    def wait(self, timeout_s: float) -> bool:
        """Sleep until something arrives or the time is over; True if something did."""
        return self._arrived.wait(timeout_s)

    # -- I/O side

    def put(self, message: Inbound) -> None:
        """Hand one event, result or question to the session side."""
        self._in.append(message)
        if not self._arrived.is_set():  # setting it takes a lock, and hands the interpreter to who waits
            self._arrived.set()

    async def room(self) -> None:
        """Wait until the session side has taken in so much that a long list may go on; here it may at once."""

    async def delivered(self, timeout_s: float) -> None:
        """Wait until what was put has reached the session side, at most so long; here it always has."""

    def take(self) -> list[Outbound]:
        """Everything to be written, in order."""
        return _taken(self._out)


def _taken(queue: deque[M]) -> list[M]:
    """Empty a queue that other threads fill."""
    taken: list[M] = []
    pop = queue.popleft
    try:
        while True:
            taken.append(pop())
    except IndexError:
        return taken
