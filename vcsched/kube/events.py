"""The recorder: brings Events to the API server, behind everything else and without ever being in the way.

Events wait in a bounded queue, one place per series, so that a repeat costs no place; a full queue drops
what is new. The writer's pool sends them when nothing else waits; when it is quiet, all of them are there.
What the API server does not answer is tried twelve times; what it refuses is dropped. Spec 02 §17.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

import msgspec

from vcsched.kube.bodies import now_text
from vcsched.kube.client import STRATEGIC_PATCH, Client
from vcsched.kube.correlator import Correlator, Series
from vcsched.kube.errors import ApiError, FencedError
from vcsched.kube.link import Event

log = logging.getLogger(__name__)

WAITING = 100_000
"""Places in the queue: a burst of binds holds its Events back until it is over, and none should be lost."""

TRIES = 12
PAUSE_S = 10.0

_encode = msgspec.json.Encoder().encode


class Recorder:
    """Records Events under a source `component`. Belongs to the I/O loop.

    `dropped` counts what the full queue refused.
    """

    def __init__(
        self, client: Client, component: str, correlator: Correlator | None = None, pause_s: float = PAUSE_S
    ) -> None:
        self.dropped = 0
        self.on_ready: Callable[[], None] | None = None  # called when a pause is over
        self._client = client
        self._component = component
        self._correlator = correlator or Correlator()
        self._pause_s = pause_s
        self._waiting: deque[Series] = deque()
        self._queued: set[int] = set()  # ids of series that wait, are under way, or pause

    @property
    def ready(self) -> bool:
        """Whether `send_one` has something to send."""
        return bool(self._waiting)

    def record(self, event: Event) -> None:
        """Count an Event; it is told later."""
        series = self._correlator.observe(event)
        if series is None or id(series) in self._queued:
            return
        if len(self._queued) >= WAITING:
            self.dropped += 1
            return
        self._queued.add(id(series))
        self._waiting.append(series)

    def clear(self) -> None:
        """Forget what waits."""
        for series in self._waiting:
            self._queued.discard(id(series))
        self._waiting.clear()

    async def send_one(self) -> bool:
        """Tell the series that waits for longest; False if none does."""
        if not self._waiting:
            return False
        series = self._waiting.popleft()
        count = series.count
        try:
            await self._tell(series, count)
        except FencedError:
            self._queued.discard(id(series))
            return False
        except ApiError as error:
            self._failed(series, error)
            return True
        series.told, series.tries = count, 0
        if series.count != count:
            self._waiting.append(series)
        else:
            self._queued.discard(id(series))
        return True

    def _failed(self, series: Series, error: ApiError) -> None:
        series.tries += 1
        if (error.status == 0 or error.status == 429 or error.status >= 500) and series.tries < TRIES:
            pause_s = error.retry_after_s or self._pause_s
            if series.tries == 1:
                pause_s *= random.random()
            asyncio.get_running_loop().call_later(pause_s, self._again, series)
            return
        log.debug("event %s on %s dropped: %s", series.reason, series.about.name, error)
        series.tries = 0
        self._queued.discard(id(series))

    def _again(self, series: Series) -> None:
        self._waiting.append(series)
        if self.on_ready is not None:
            self.on_ready()

    async def _tell(self, series: Series, count: int) -> None:
        namespace = series.about.namespace or "default"
        path = f"/api/v1/namespaces/{namespace}/events"
        via = self._client.events
        if series.told:
            patch = {"count": count, "lastTimestamp": _time(series.last), "message": series.message}
            try:
                await self._client.patch(f"{path}/{series.name}", _encode(patch), STRATEGIC_PATCH, via=via)
                return
            except ApiError as error:
                if error.status != 404:
                    raise
                series.name = ""  # it expired: make a new one
        if not series.name:
            series.name = f"{series.about.name}.{time.time_ns():x}"
        try:
            await self._client.create(path, self._body(series, namespace, count), via=via)
        except ApiError as error:
            if error.status != 409:  # an earlier try had arrived
                raise

    def _body(self, series: Series, namespace: str, count: int) -> bytes:
        about = series.about
        return _encode(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": series.name, "namespace": namespace},
                "involvedObject": {
                    "apiVersion": about.api_version,
                    "kind": about.kind,
                    "namespace": about.namespace,
                    "name": about.name,
                    "uid": about.uid,
                },
                "type": series.type,
                "reason": series.reason,
                "message": series.message,
                "source": {"component": self._component},
                "reportingComponent": self._component,
                "reportingInstance": "",
                "count": count,
                "firstTimestamp": _time(series.first),
                "lastTimestamp": _time(series.last),
            }
        )


@lru_cache(maxsize=8)
def _text(seconds: int) -> str:
    return now_text(datetime.fromtimestamp(seconds, UTC))


def _time(seconds: float) -> str:
    return _text(int(seconds))
