"""When Python's garbage collector may run: between sessions, never inside one (design-notes §1 no. 34).

A full collection of a large picture takes tens of milliseconds and frees almost nothing, since the objects
of the picture hold no cycles. After the first lists are in, everything alive is frozen out of the
collector's sight; after that, only what sessions leave behind is looked at, in the pause between two.
"""

from __future__ import annotations

import gc
import time

YOUNG = 400_000
"""Allocations after which the youngest generation is collected even inside a session, to bound the memory."""

FULL_EVERY_S = 600.0
"""A full collection, with a new freeze, runs this often: it finds cycles that plugins leave."""


class GcPolicy:
    """Call `synced` once and `between_sessions` in every pause; `stop` gives Python's own way back."""

    def __init__(self) -> None:
        self._before = gc.get_threshold()
        self._last_full = time.monotonic()

    def start(self) -> None:
        """No automatic collection of the old generation from now on."""
        gc.set_threshold(YOUNG, 1_000_000, 1_000_000)

    def synced(self) -> None:
        """The picture is complete: take it out of the collector's sight."""
        self._freeze()

    def between_sessions(self) -> None:
        """Collect what the last session left, and everything once in a while."""
        if time.monotonic() - self._last_full < FULL_EVERY_S:
            gc.collect(1)
            return
        gc.unfreeze()
        self._freeze()

    def stop(self) -> None:
        """Undo it all; for tests and for a process that goes on without a scheduler."""
        gc.unfreeze()
        gc.set_threshold(*self._before)

    def _freeze(self) -> None:
        gc.collect()
        gc.freeze()
        self._last_full = time.monotonic()
