"""Which Events are told: repeats become counts, floods become one series, spam is dropped.

The behaviour users know from Kubernetes' own components (spec 02 §17), kept as values without I/O:

- an Event that was told before raises the count of its series;
- from the tenth different message of one (object, type, reason) within ten minutes on, all go to one series
  whose message begins with "(combined from similar events): ";
- an object may cause 25 Events at once, then one in five minutes.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from vcsched.kube.link import Event, Reference

MESSAGES = 10
WINDOW_S = 600.0
BURST = 25
REFILL_S = 300.0
REMEMBERED = 4096
COMBINED = "(combined from similar events): "

K = TypeVar("K")
V = TypeVar("V")

_Key = tuple[Reference, str, str]


class Series:
    """One Event object: an identity, and how often it happened so far.

    `told` is the count that the API server has, 0 while the object was not made.
    """

    __slots__ = ("about", "count", "first", "last", "message", "name", "reason", "told", "tries", "type")

    def __init__(self, event: Event, now: float) -> None:
        self.about = event.about
        self.type = event.type
        self.reason = event.reason
        self.message = event.message
        self.name = ""
        self.count = 0
        self.told = 0
        self.tries = 0
        self.first = now
        self.last = now


class _Similar:
    """The different messages of one (object, type, reason) within the window."""

    __slots__ = ("last", "messages")

    def __init__(self, now: float) -> None:
        self.messages: set[str] = set()
        self.last = now


class _Tokens:
    __slots__ = ("at", "left")

    def __init__(self, now: float) -> None:
        self.left = float(BURST)
        self.at = now


class Correlator:
    """Turns Events into series; `clock` gives seconds since the epoch."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._similar: _Recent[_Key, _Similar] = _Recent()
        self._series: _Recent[tuple[_Key, str], Series] = _Recent()
        self._tokens: _Recent[Reference, _Tokens] = _Recent()

    def observe(self, event: Event) -> Series | None:
        """Count one Event; returns its series, or None if it is not to be told now."""
        now = self._clock()
        key = (event.about, event.type, event.reason)
        combined = self._is_one_too_many(key, event.message, now)
        series_key = (key, "" if combined else event.message)
        series = self._series.get(series_key)
        if series is None:
            series = Series(event, now)
            self._series.put(series_key, series)
        series.message = COMBINED + event.message if combined else event.message
        series.count += 1
        series.last = now
        return series if self._may_speak(event.about, now) else None

    def _is_one_too_many(self, key: _Key, message: str, now: float) -> bool:
        similar = self._similar.get(key)
        if similar is None or now - similar.last > WINDOW_S:
            similar = _Similar(now)
            self._similar.put(key, similar)
        similar.messages.add(message)
        similar.last = now
        if len(similar.messages) < MESSAGES:
            return False
        similar.messages.pop()
        return True

    def _may_speak(self, about: Reference, now: float) -> bool:
        tokens = self._tokens.get(about)
        if tokens is None:
            tokens = _Tokens(now)
            self._tokens.put(about, tokens)
        tokens.left = min(float(BURST), tokens.left + (now - tokens.at) / REFILL_S)
        tokens.at = now
        if tokens.left < 1.0:
            return False
        tokens.left -= 1.0
        return True


class _Recent(Generic[K, V]):
    """A map that forgets what was not used for longest."""

    def __init__(self) -> None:
        self._items: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K) -> V | None:
        value = self._items.get(key)
        if value is not None:
            self._items.move_to_end(key)
        return value

    def put(self, key: K, value: V) -> None:
        self._items[key] = value
        self._items.move_to_end(key)
        if len(self._items) > REMEMBERED:
            self._items.popitem(last=False)
