"""Sessions in memory: a `World` whose objects go through the real cache, and whose writes can be looked at.

    world.nodes(2, cpu=2)
    world.gang("fits", pods=3, cpu=1)
    world.session()
    assert world.bound("fits") == 3

No server and no thread: objects are encoded as the API server would send them, put on a link, and what a
session writes is taken off it. `confirm` plays the API server's part for binds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from vcsched.cache.cache import SchedulerCache
from vcsched.cache.options import CacheOptions
from vcsched.cache.verify import verify
from vcsched.framework.conf import Configuration, parse
from vcsched.framework.conf_loader import BUILT_IN
from vcsched.framework.explain import why
from vcsched.framework.scheduler import Report, Scheduler
from vcsched.framework.session import Session
from vcsched.kube.link import Bind, Deleted, Event, Evict, Outbound, PodGroupStatus, PodStatus, Upsert, Wrote
from vcsched.kube.objects import KINDS, decode
from vcsched.model.job import Job
from vcsched.model.task import Task
from vcsched.simulator.world import World

KIND_OF = {resource.kind: kind for kind, resource in KINDS.items()}


def wire(obj: dict[str, Any]) -> Any:
    """An object as the I/O side would decode it."""
    return decode(KIND_OF[obj["kind"]], json.dumps(obj).encode())


class SessionWorld(World):
    """A world with a scheduler of its own. `writes` is everything written so far."""

    def __init__(self, conf: str | Configuration = BUILT_IN, *, seed: int = 0, now: float = 1_800_000_000.0) -> None:
        super().__init__()
        self.now = now
        self.cache = SchedulerCache(options=CacheOptions(), clock=lambda: self.now)
        self._conf = parse(conf) if isinstance(conf, str) else conf
        self._seed = seed
        self._scheduler: Scheduler | None = None
        self._sent = 0
        self.writes: list[Outbound] = []
        self.queue("default")

    @property
    def scheduler(self) -> Scheduler:
        if self._scheduler is None:
            self._scheduler = Scheduler(self.cache, self._conf, seed=self._seed)
        return self._scheduler

    # -- what happens

    def sync(self) -> None:
        """Everything built since the last call arrives at the cache."""
        new = self.objects(self._sent)
        self._sent = len(self)
        self.upsert(new)

    def upsert(self, objects: Iterable[dict[str, Any]]) -> None:
        for obj in objects:
            self.cache.link.put(Upsert(wire(obj)))
        self.cache.drain()

    def delete(self, obj: dict[str, Any]) -> None:
        meta = obj["metadata"]
        key = f"{meta['namespace']}/{meta['name']}" if meta.get("namespace") else meta["name"]
        self.cache.link.put(Deleted(KIND_OF[obj["kind"]], key, meta.get("uid", "")))
        self.cache.drain()

    def session(self, times: int = 1) -> Report:
        """Run sessions; the invariants are checked after each."""
        self.sync()
        scheduler = self.scheduler
        report = Report(0.0, 0, 0)
        for _ in range(times):
            report = scheduler.run_once()
            verify(self.cache)
            self.writes.extend(self.cache.link.take())
        return report

    def open(self) -> Session:
        """A session with its plugins opened, for tests that act themselves; close it with `.close()`."""
        self.sync()
        return self.scheduler.open_session()

    def reply(self, *, ok: bool = True, status: int = 201, reason: str = "") -> None:
        """Answer every write made so far that has a number."""
        for message in self.writes:
            number = getattr(message, "no", 0)
            if number:
                self.cache.link.put(Wrote(number, ok, status, reason))
        self.cache.drain()

    def confirm(self) -> None:
        """The watch shows every bind: pods sit on their nodes and run."""
        for message in self.of_type(Bind):
            pod = self.get("Pod", message.name, message.namespace)
            pod["spec"]["nodeName"] = message.node
            pod["status"] = {**pod.get("status", {}), "phase": "Running"}
            self.upsert([pod])

    # -- what came out

    def of_type(self, kind: type) -> list[Any]:
        return [m for m in self.writes if type(m) is kind]

    def binds(self) -> dict[str, str]:
        """Pod key -> node, for every bind written."""
        return {f"{m.namespace}/{m.name}": m.node for m in self.of_type(Bind)}

    def bound(self, gang: str, namespace: str = "default") -> int:
        """How many pods of a gang were bound."""
        return sum(1 for m in self.of_type(Bind) if m.gang == f"{namespace}/{gang}")

    def evicted(self) -> list[str]:
        return [f"{m.namespace}/{m.name}" for m in self.of_type(Evict)]

    def events(self, reason: str = "") -> list[Event]:
        return [m for m in self.of_type(Event) if not reason or m.reason == reason]

    def marks(self) -> dict[str, PodStatus]:
        """Pod key -> the last status written on it."""
        return {f"{m.namespace}/{m.name}": m for m in self.of_type(PodStatus)}

    def statuses(self) -> dict[str, PodGroupStatus]:
        """Job key -> the last PodGroup status written."""
        return {f"{m.namespace}/{m.name}": m for m in self.of_type(PodGroupStatus)}

    def job(self, name: str, namespace: str = "default") -> Job:
        return self.cache.picture.jobs[f"{namespace}/{name}"]

    def task(self, name: str, namespace: str = "default") -> Task:
        return next(t for t in self.cache.picture.tasks.values() if t.key == f"{namespace}/{name}")

    def why(self, name: str, namespace: str = "default") -> str:
        """Our sentence about why a gang waits."""
        found = why(self.scheduler.open_session(), self.job(name, namespace))
        return found.sentence if found is not None else ""
