"""Fixed pieces of work whose time tells how fast the machine is at this moment.

Two of them, since the scheduler's time goes to both: a loop of plain Python, and numpy passes over a column
of a large cluster. They are short, so that some of many repetitions run undisturbed even on a busy machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

LOOP_STEPS = 1_000
ROWS = 5_000
REPETITIONS = 200


class Yardstick(NamedTuple):
    """Best CPU time of each piece, in microseconds."""

    loop_us: float  # a Python loop of 1,000 steps: an addition, an item of a list, a comparison
    numpy_us: float  # compare, mask and argmax over 5,000 float64


def measure() -> Yardstick:
    """Time both; takes about 50 ms on a quiet machine."""
    return Yardstick(_best_us(_loop), _best_us(_numpy))


def better(a: Yardstick, b: Yardstick) -> Yardstick:
    """The faster of two measurements of each piece."""
    return Yardstick(min(a.loop_us, b.loop_us), min(a.numpy_us, b.numpy_us))


def _best_us(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best * 1e6


_ITEMS = list(range(64))
_COLUMN = (np.arange(ROWS, dtype=np.float64) * 7919.0) % 1009.0


def _loop() -> int:
    items, total = _ITEMS, 0
    for step in range(LOOP_STEPS):
        if items[step & 63] > 7:
            total += step
    return total


def _numpy() -> int:
    fits = _COLUMN > 500.0
    return int(np.where(fits, _COLUMN, -np.inf).argmax())
