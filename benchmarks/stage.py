"""A scheduler in memory: objects go over the link as the I/O side would put them, sessions run, writes are taken.

No server and no second thread, so what is timed here is the session thread's work alone. The garbage collector
runs as in the daemon: between sessions, with the loaded picture frozen.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from benchmarks.figures import Watch
from vcsched.cache.cache import SchedulerCache
from vcsched.daemon.gcpolicy import GcPolicy
from vcsched.framework.conf import parse
from vcsched.framework.conf_loader import BUILT_IN
from vcsched.framework.scheduler import Report, Scheduler
from vcsched.kube.link import Bind, Evict, Outbound, Upsert, Wrote
from vcsched.kube.objects import KINDS, decode
from vcsched.simulator.world import World

Obj = dict[str, Any]
KIND_OF = {resource.kind: kind for kind, resource in KINDS.items()}
_SETTLE_LIMIT = 20


def wire(objects: Iterable[Obj]) -> list[Any]:
    """Objects as the I/O side decodes them."""
    return [decode(KIND_OF[obj["kind"]], json.dumps(obj).encode()) for obj in objects]


class Stage:
    """A scheduler with a World on it. Objects added to the World later come by `arrive`."""

    def __init__(self, world: World, conf: str = BUILT_IN, *, seed: int = 1) -> None:
        self.cache = SchedulerCache()
        self.link = self.cache.link
        self.scheduler = Scheduler(self.cache, parse(conf), seed=seed)
        self._gc = GcPolicy()
        self._gc.start()
        self.put(wire(world.objects()))
        self.cache.drain()
        self._gc.synced()

    def put(self, decoded: Iterable[Any]) -> None:
        """Decoded objects arrive on the link; the next drain takes them in."""
        for obj in decoded:
            self.link.put(Upsert(obj))

    def pause(self) -> None:
        """What happens between two sessions: garbage is collected."""
        self._gc.between_sessions()

    def session(self, watch: Watch | None = None) -> Report:
        """Drain and one session, timed together if a watch is given."""
        if watch is None:
            self.cache.drain()
            return self.scheduler.run_once()
        with watch.measure():
            self.cache.drain()
            return self.scheduler.run_once()

    def action_by_action(self, watches: dict[str, Watch]) -> None:
        """One session, its parts timed apart: "open", each action under its name, "close"."""
        scheduler = self.scheduler
        self.cache.drain()
        with watches.setdefault("open", Watch()).measure():
            ssn = scheduler.open_session()
        for action in scheduler.actions:
            with watches.setdefault(action.name, Watch()).measure():
                action.execute(ssn)
        with watches.setdefault("close", Watch()).measure():
            ssn.close()

    def writes(self) -> list[Outbound]:
        """What was written since the last call, each answered with success."""
        taken = self.link.take()
        for message in taken:
            number = getattr(message, "no", 0)
            if number:
                self.link.put(Wrote(number, True, 201))
        return taken

    def settle(self) -> None:
        """Sessions until one writes nothing. RuntimeError if that does not come."""
        for _ in range(_SETTLE_LIMIT):
            self.session()
            if not self.writes():
                self.cache.drain()
                self.pause()
                return
        raise RuntimeError(f"the scheduler still writes after {_SETTLE_LIMIT} sessions in which nothing happened")


def binds(writes: Iterable[Outbound]) -> list[Bind]:
    return [message for message in writes if type(message) is Bind]


def evictions(writes: Iterable[Outbound]) -> list[Evict]:
    return [message for message in writes if type(message) is Evict]
