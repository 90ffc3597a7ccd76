"""Waiting longer after each failure, with jitter so that many who failed together do not return together."""

from __future__ import annotations

import random


class Backoff:
    """Doubles from `first_s` to `most_s`, each time stretched by up to half."""

    def __init__(self, first_s: float, most_s: float) -> None:
        self._first_s = first_s
        self._most_s = most_s
        self._tries = 0

    def next(self) -> float:
        """Seconds to wait now."""
        base = min(self._most_s, self._first_s * 2.0 ** min(self._tries, 30))
        self._tries += 1
        return base * (1.0 + random.random() / 2.0)

    def reset(self) -> None:
        self._tries = 0


def delay_s(tries: int, first_s: float, most_s: float) -> float:
    """The same for a caller that counts its own tries (0 = the first failure)."""
    return min(most_s, first_s * 2.0 ** min(tries, 30)) * (1.0 + random.random() / 2.0)
