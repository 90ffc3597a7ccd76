"""How many writes may be under way at once: more while the server keeps up, fewer when it does not.

Additive increase, multiplicative decrease, as in TCP: the API server's own limits are unknown, differ
between installations and change with its load. A burst of a thousand pods therefore never arrives as a
thousand connections (design-notes §1 item 15, spec 02 W27).
"""

from __future__ import annotations

import time

SLOW_S = 1.0
"""An answer slower than this counts as a sign of overload."""

_PAUSE_S = 0.5  # signs that arrive together are one sign


class Parallelism:
    """A window of `now` writes between `least` and `most`."""

    def __init__(self, start: int = 32, least: int = 4, most: int = 256) -> None:
        self._window = float(start)
        self._least = float(least)
        self._most = float(most)
        self._shrunk = 0.0

    @property
    def now(self) -> int:
        return int(self._window)

    def answered(self, seconds: float, busy: bool) -> None:
        """An answer came; `busy` says that the window was full, else a larger one would serve nothing."""
        if seconds > SLOW_S:
            self._shrink(0.8)
        elif busy:
            self._window = min(self._most, self._window + 1.0 / self._window)

    def overloaded(self) -> None:
        """The server said 429 or 504, or did not answer in time."""
        self._shrink(0.5)

    def _shrink(self, factor: float) -> None:
        now = time.monotonic()
        if now - self._shrunk < _PAUSE_S:
            return
        self._shrunk = now
        self._window = max(self._least, self._window * factor)
