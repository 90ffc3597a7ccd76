"""The fence: one switch through which every request passes, so that a lost lease stops them all at once.

A replica that lost its lease must not write a byte more, since another one decides already. The switch is
shut by hand (`shut`), and by itself when the lease was not renewed in time (`valid_until`): a process that
was stopped for a minute wakes up shut, before any of its tasks runs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from vcsched.kube.errors import FencedError


class Gate:
    """Open until shut; a shut gate never opens again. `shut` may be called from any thread."""

    def __init__(self) -> None:
        self.valid_until = math.inf  # time.monotonic() seconds; kept by the lease
        self.on_shut: list[Callable[[], None]] = []  # called once, in the thread that shuts
        self._shut = ""

    @property
    def is_shut(self) -> bool:
        return bool(self._shut) or time.monotonic() > self.valid_until

    def check(self) -> None:
        """Raises `FencedError` if no request may leave."""
        if self._shut:
            raise FencedError(self._shut)
        if time.monotonic() > self.valid_until:
            raise FencedError("the lease was not renewed in time")

    def shut(self, why: str) -> None:
        if self._shut:
            return
        self._shut = why
        for call in self.on_shut:
            call()
