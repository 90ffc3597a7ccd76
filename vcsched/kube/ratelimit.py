"""Token bucket for `--kube-api-qps` and `--kube-api-burst`; each client set has its own (spec 02 §1.2)."""

from __future__ import annotations

import asyncio
import time


class Bucket:
    """At most `burst` at once and `qps` a second; a rate of 0 or less limits nothing."""

    def __init__(self, qps: float, burst: int) -> None:
        self._qps = qps
        self._burst = max(1.0, float(burst))
        self._tokens = self._burst
        self._at = time.monotonic()

    async def take(self) -> None:
        """Take one token; waits while there is none. The debt of those who wait keeps them in order."""
        if self._qps <= 0:
            return
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._qps) - 1.0
        self._at = now
        if self._tokens < 0:
            await asyncio.sleep(-self._tokens / self._qps)
