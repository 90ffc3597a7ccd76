"""Notices: something about a job is said again when it changes or after a while, not in every session.

A plugin that refuses a waiting job refuses it each time it is asked; an event each time would drown the
API server and the reader (ux.md: quiet when idle; design-notes §7 row 2).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

REPEAT_S = 300.0


class _Said(NamedTuple):
    what: Hashable
    at: float


class Notices:
    """Remembers what was said about whom until it is to be said again anyway; who is not asked about for a while, as
    a job that is skipped, hears nothing twice for that. A namesake made anew is another one: give its uid."""

    def __init__(self) -> None:
        self._said: dict[str, _Said] = {}  # the oldest first
        self._now = 0.0

    def begin(self) -> None:
        """A session opens: what was said long ago is forgotten."""
        while self._said:
            key, said = next(iter(self._said.items()))
            if self._now - said.at < REPEAT_S:
                break
            del self._said[key]

    def is_due(self, key: str, what: Hashable, now: float) -> bool:
        """Whether `what` is to be said about `key` at this unix time; if so it counts as said."""
        self._now = now
        said = self._said.get(key)
        if said is not None and said.what == what and now - said.at < REPEAT_S:
            return False
        self._said.pop(key, None)
        self._said[key] = _Said(what, now)
        return True
