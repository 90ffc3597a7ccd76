"""A third party's watch on all pods: when was the last one bound? It reads three fields of each event."""

from __future__ import annotations

import asyncio
import threading
import time

import msgspec

from tests.e2e.api import Api


class _Meta(msgspec.Struct):
    name: str = ""
    labels: dict[str, str] = {}


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Pod(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)


class _Change(msgspec.Struct):
    type: str
    object: _Pod


class Observer:
    """Counts bound pods by their label `of`."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._bound: dict[str, set[str]] = {}
        self._last: dict[str, float] = {}
        self._changed = threading.Event()
        self._task = api.call(self._start())

    def wait_for(self, group: str, count: int, timeout_s: float) -> float:
        """Wait until so many pods of a group are bound; the unix time of the last one.

        Raises `RuntimeError` after the time is over.
        """
        give_up = time.monotonic() + timeout_s
        while len(self._bound.get(group, ())) < count:
            if time.monotonic() > give_up:
                got = len(self._bound.get(group, ()))
                raise RuntimeError(f"{got} of {count} pods of {group} were bound in {timeout_s:.0f} s")
            self._changed.clear()
            self._changed.wait(0.1)
        return self._last[group]

    def close(self) -> None:
        async def cancel() -> None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

        self._api.call(cancel())

    async def _start(self) -> asyncio.Task[None]:
        listed = await self._api.request("GET", "api/v1/pods", query={"limit": "1"})
        return asyncio.create_task(self._follow(listed["metadata"]["resourceVersion"]))

    async def _follow(self, since: str) -> None:
        decoder = msgspec.json.Decoder(_Change)
        async with self._api.watch("Pod", since) as lines:
            async for line in lines:
                pod = decoder.decode(line).object
                if not pod.spec.node_name:
                    continue
                group = pod.metadata.labels.get("of", "")
                seen = self._bound.setdefault(group, set())
                if pod.metadata.name not in seen:
                    seen.add(pod.metadata.name)
                    self._last[group] = time.time()
                    self._changed.set()
