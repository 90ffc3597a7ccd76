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
    """Remembers what was said about whom; who is not asked about in a session is forgotten."""

    def __init__(self) -> None:
        self._before: dict[str, _Said] = {}
        self._now: dict[str, _Said] = {}

    def begin(self) -> None:
        """A session opens."""
        self._before, self._now = self._now, {}

    def is_due(self, key: str, what: Hashable, now: float) -> bool:
        """Whether `what` is to be said about `key` at this unix time; if so it counts as said."""
        said = self._before.get(key)
        due = said is None or said.what != what or now - said.at >= REPEAT_S
        self._now[key] = _Said(what, now) if said is None or due else said
        return due
