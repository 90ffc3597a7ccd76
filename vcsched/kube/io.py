"""The I/O side: everything that speaks to the API server, on one asyncio loop in a thread of its own.

The session thread owns the picture and never waits for a socket; this thread owns the sockets and never
sees the picture. What passes between them are the values of `link` (DESIGN 3). In the daemon all of it runs
in a process of its own (`ioprocess`). The methods here are called from outside the loop, in the order of
spec 02 §2: start, queues, election, follow, and stop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

import uvloop

from vcsched.kube import probe, queues
from vcsched.kube.apply import Applier
from vcsched.kube.client import Client
from vcsched.kube.config import Login
from vcsched.kube.errors import FencedError
from vcsched.kube.events import Recorder
from vcsched.kube.filters import own_or_bound
from vcsched.kube.gate import Gate
from vcsched.kube.known import Known
from vcsched.kube.lease import Election
from vcsched.kube.link import Link
from vcsched.kube.objects import KINDS, Node, Object, Pod
from vcsched.kube.reflector import Reflector
from vcsched.kube.settings import IOSettings, Stats
from vcsched.kube.writer import Writer

log = logging.getLogger(__name__)

T = TypeVar("T")

_VITAL = (Node, Pod)
_LOOK_S = 0.05  # how often a wait looks whether it is stopped
_DELIVERY_S = 1.0  # how long the last results may take to reach the session side


class IO:
    """The I/O side of a link.

    Making one reads the credentials, and raises `LoginError`. Pods are filtered to those of `own_names` and bound
    ones. `on_lost()` is called on the loop when the lease is lost, after the fence went up. What waits for others
    takes `stopped`, an event that ends the wait.
    """

    def __init__(self, link: Link, settings: IOSettings, on_lost: Callable[[], None] | None = None) -> None:
        self.gate = Gate()
        self._link = link
        self._settings = settings
        self._on_lost = on_lost
        self._login = Login.load(settings.kubeconfig, settings.master)
        self._client = Client(self._login, qps=settings.qps, burst=settings.burst, gate=self.gate)
        own_names = settings.own_names
        self._recorder = Recorder(self._client, own_names[0] if len(own_names) == 1 else "volcano")
        self._election: Election | None = None
        self._reflectors: list[Reflector[Any]] = []
        self._writer: Writer | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="io", daemon=True)

    # ---------------------------------------------------------------- called from outside the loop

    def start(self) -> str:
        """Start the thread and meet the server; returns its version. Raises `ApiError`."""
        self._thread.start()
        return self.call(self._open())

    def call(self, work: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """Run a coroutine on the I/O loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout_s)

    def ensure_queue(self, name: str, reclaimable: bool, stopped: threading.Event) -> bool:
        """Make a queue unless it is there; False if stopped first. Raises `ApiError` after a minute."""
        return self._wait(queues.ensure_queue(self._client, name, reclaimable), stopped)

    def missing_rights(self, kinds: Iterable[type[Object]]) -> list[str]:
        """Rights that our role lacks, as texts for the log."""
        return self.call(probe.missing_rights(self._client, kinds))

    def elect(self, stopped: threading.Event) -> bool:
        """Wait until we lead; False if stopped first. At once True without leader election."""
        if self._settings.lease is None:
            return True
        self._election = Election(self._client, self._settings.lease)
        return self._wait(self._election.acquire(), stopped)

    def follow(self, kinds: Iterable[type[Object]]) -> None:
        """Begin to watch these kinds, and to write."""
        self.call(self._follow(kinds))

    def lagging(self) -> dict[str, str]:
        """Kinds whose first list has not arrived, with the reason (spec 02 W9)."""
        return {KINDS[r.kind].plural: r.lag for r in self._reflectors if not r.synced}

    def stats(self) -> Stats:
        writer = self._writer
        return Stats(
            unfinished_writes=writer.unfinished if writer is not None else 0,
            parallelism=writer.parallelism.now if writer is not None else 0,
            dropped_events=self._recorder.dropped,
            objects={KINDS[r.kind].plural: len(r.known) for r in self._reflectors},
            leading=self._election.leading if self._election is not None else self._settings.lease is None,
        )

    def fence(self, why: str = "fenced") -> None:
        """From now on no request of any kind leaves. Any thread; takes effect before it returns."""
        self.gate.shut(why)

    def stop(self, drain_timeout_s: float = 10.0) -> bool:
        """Finish what was sent, give the lease back, end the thread; False if writes had to be given up."""
        if not self._thread.is_alive():
            return True
        try:
            return self.call(self._close(drain_timeout_s))
        finally:
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join()
            self.loop.close()

    def _wait(self, work: Coroutine[Any, Any, None], stopped: threading.Event) -> bool:
        """Run a coroutine that may take long; False if stopped before its end."""
        running = asyncio.run_coroutine_threadsafe(work, self.loop)
        while not running.done():
            if stopped.wait(_LOOK_S):
                running.cancel()
                return False
        running.result()
        return True

    # ---------------------------------------------------------------- on the loop

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    async def _open(self) -> str:
        await self._client.open()
        self.gate.on_shut.append(self._on_shut)
        self._spawn(self._login.keep_fresh())
        version = await probe.server_version(self._client)
        log.info("API server %s, version %s", self._login.server, version)
        return version

    async def _follow(self, kinds: Iterable[type[Object]]) -> None:
        known: dict[type[Object], Known[Any]] = {}
        for kind in kinds:
            keep: Callable[[Any], bool] | None = own_or_bound(self._settings.own_names) if kind is Pod else None
            reflector = Reflector(
                self._client,
                kind,
                self._link.put,
                keep,
                vital=kind in _VITAL,
                pace=self._settings.pace,
                room=self._link.room,
            )
            self._reflectors.append(reflector)
            known[kind] = reflector.known
        applier = Applier(self._client, known, self._recorder.record)
        self._writer = Writer(self._link, applier, self._recorder, self.gate, patience=self._settings.patience)
        self._link.on_send = self._writer.wake
        if self._election is not None:
            self._recorder.record(self._election.event("became leader"))
            self._spawn(self._hold(self._election))
        for reflector in self._reflectors:
            self._spawn(self._reflect(reflector))
        self._client.on_written = self._writer.turns.answered
        self._spawn(self._writer.turns.run())
        self._writer.wake()

    async def _reflect(self, reflector: Reflector[Any]) -> None:
        """A reflector whose code failed begins anew with a list; the picture stays right."""
        while True:
            try:
                await reflector.run()
            except FencedError:
                return
            except Exception:
                log.exception("following %s failed in an unforeseen way", KINDS[reflector.kind].plural)
                await asyncio.sleep(5.0)

    async def _hold(self, election: Election) -> None:
        await election.hold()
        if self._on_lost is not None:
            self._on_lost()

    def _on_shut(self) -> None:
        self.loop.call_soon_threadsafe(self._fenced)

    def _fenced(self) -> None:
        if self._writer is not None:
            self._writer.give_up("fenced: the lease is lost")
        self._spawn(self._client.close())

    async def _close(self, drain_timeout_s: float) -> bool:
        done = True
        if self._election is not None and self._election.leading:
            self._recorder.record(self._election.event("stopped leading"))
        if self._writer is not None:
            self._link.on_send = None
            done = await self._writer.drain(drain_timeout_s)
        for task in self._tasks:  # also the renewal of the lease, which must not undo its release
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._election is not None:
            await self._election.release()
        self.gate.on_shut.clear()
        self.gate.shut("the daemon ended")
        if self._writer is not None:
            await self._writer.stop()
        await self._client.close()
        await self._link.delivered(_DELIVERY_S)
        return done

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
