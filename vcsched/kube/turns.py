"""The I/O loop in turns: while many writes are under way, what arrives gathers for some milliseconds.

Answers and watch events that come one by one would each wake the process, and find its caches cold; taken in
turns they cost a third less CPU. Nobody waits for the answer to a single one of many writes. A turn is short against
what an answer takes, so it costs little of the rate; and the window of writes grows meanwhile (`parallelism`).
"""

from __future__ import annotations

import asyncio
import time

MANY = 8
"""So many writes under way are worth it."""

_PART, _MOST_S = 0.25, 0.05  # a turn's length: this part of what an answer takes, at most
_FIRST_S = 0.02  # what an answer is thought to take before the first one; a server may never give one
_STEPS = 4  # passes of the loop until what gathered has been read, understood and answered


class Turns:
    """`under_way` is told how many writes there are, `answered` how long one request took; `run` is a task."""

    def __init__(self) -> None:
        self._many = asyncio.Event()
        self._answer_s = _FIRST_S

    def under_way(self, count: int) -> None:
        if count < MANY:
            self._many.clear()
        else:
            self._many.set()

    def answered(self, seconds: float) -> None:
        self._answer_s += (seconds - self._answer_s) / 16.0

    async def run(self) -> None:
        """Never returns; ends by cancellation."""
        while True:
            await self._many.wait()
            time.sleep(min(_MOST_S, self._answer_s * _PART))
            for _ in range(_STEPS):
                await asyncio.sleep(0)
