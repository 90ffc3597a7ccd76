"""A fake server, a client, a link and a writer, set up for one test."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.kube.fake import FakeServer, Raw
from vcsched.kube.apply import Applier
from vcsched.kube.client import Client
from vcsched.kube.config import Login
from vcsched.kube.events import Recorder
from vcsched.kube.gate import Gate
from vcsched.kube.known import Known
from vcsched.kube.link import Link, Outbound, Wrote
from vcsched.kube.objects import Object
from vcsched.kube.parallelism import Parallelism
from vcsched.kube.settings import Pace, Patience
from vcsched.kube.writer import Writer

QUICK = Patience(deadline_s=60.0, pause_s=0.01, pause_most_s=0.05, events_s=60.0)
PACE = Pace(page=3, silence_s=60.0, absent_s=0.02, retry_s=0.01, retry_most_s=0.05)


class Stage:
    """`async with Stage() as s`: then `s.server`, `s.client`, `s.link`, `s.writer`."""

    def __init__(
        self,
        patience: Patience = QUICK,
        parallel: int = 32,
        try_s: float = 60.0,
        known: dict[type[Object], Known[Any]] | None = None,
    ) -> None:
        self.server = FakeServer()
        self.gate = Gate()
        self.link = Link()
        self.heard: list[Any] = []
        self._patience = patience
        self._parallel = parallel
        self._try_s = try_s
        self._known = known or {}

    async def __aenter__(self) -> Stage:
        await self.server.__aenter__()
        self.client = Client(Login(server=self.server.url), gate=self.gate, qps=0)
        await self.client.open()
        self.recorder = Recorder(self.client, "volcano", pause_s=0.01)
        self.applier = Applier(self.client, self._known, self.recorder.record, self._try_s)
        self.writer = Writer(
            self.link,
            self.applier,
            self.recorder,
            self.gate,
            parallelism=Parallelism(self._parallel, most=self._parallel),
            patience=self._patience,
        )
        self.link.on_send = self.writer.wake
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.writer.stop()
        await self.client.close()
        await self.server.__aexit__()

    def pods(self, *names: str, **spec: Any) -> None:
        for name in names:
            self.server.put(pod_path(name), pod(name, **spec))

    async def write(self, *messages: Outbound) -> dict[int, Wrote]:
        """Send and wait for everything; results by number."""
        self.link.send(messages)
        assert await self.writer.drain(60)
        return self.results()

    def results(self) -> dict[int, Wrote]:
        found = [message for message in self.link.drain() if isinstance(message, Wrote)]
        assert len({wrote.no for wrote in found}) == len(found), "a number was answered twice"
        return {wrote.no: wrote for wrote in found}

    def events(self) -> list[Raw]:
        return [obj for path, obj in self.server.objects.items() if "/events/" in path]


def pod_path(name: str) -> str:
    return f"/api/v1/namespaces/ns/pods/{name}"


def pg_path(name: str) -> str:
    return f"/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/{name}"


def pod(name: str, uid: str = "", **spec: Any) -> Raw:
    return {
        "metadata": {"name": name, "namespace": "ns", "uid": uid or f"uid-{name}"},
        "spec": {"schedulerName": "volcano", **spec},
        "status": {"phase": "Pending"},
    }


async def until(holds: Any) -> None:
    """Wait for something to become true; the test's own time limit ends a vain wait."""
    while not holds():
        await asyncio.sleep(0.002)
