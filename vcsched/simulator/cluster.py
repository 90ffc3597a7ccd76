"""The running simulator: store, API, kubelet, ReplicaSets and garbage collection on one event loop.

    with ApiServer() as server:            # in a thread of this process
        server.load(world.objects())
        server.write_kubeconfig(path)

`ApiServer` gives tests the registry and the faults in hand (`call` runs a function on the server's loop).
`ApiServerProcess` is the same in a process of its own, for benchmarks and the demo. `serve` is what both and
`vcsched simulate` run.
"""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import uvloop
import yaml
from aiohttp import web

from vcsched.simulator import seed
from vcsched.simulator.apiserver import Api
from vcsched.simulator.faults import Fault, Faults
from vcsched.simulator.kubelet import Kubelet, Pace
from vcsched.simulator.owners import Owners
from vcsched.simulator.registry import Registry
from vcsched.simulator.replicas import Replicas
from vcsched.simulator.resources import BY_KIND, BY_PLURAL
from vcsched.simulator.store import Obj, Store

T = TypeVar("T")
_START_TIMEOUT_S = 30
_LARGEST_BODY = 3 * 1024 * 1024  # the real server's limit


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run a simulator. Port 0 is any free one; `history` is a kind's watch history, in changes."""

    host: str = "127.0.0.1"
    port: int = 0
    pace: Pace = field(default_factory=Pace)
    history: int = 20_000
    seed: int = 0


class Simulation:
    """The parts, wired; made and used on one event loop."""

    def __init__(self, settings: Settings, objects: Iterable[Obj] = ()) -> None:
        self.settings = settings
        self.store = Store(settings.history)
        self.registry = Registry(self.store, settings.seed)
        self.faults = Faults(settings.seed)
        self.faults.on_add = self._wake
        self.api = Api(self.store, self.registry, self.faults)
        self._stand_ins = (
            Kubelet(self.registry, settings.pace),
            Replicas(self.registry, Owners(self.registry)),
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._server: asyncio.Server | None = None
        self._web: web.Server | None = None
        self.port = settings.port
        self.load([*seed.objects(), *objects])

    def load(self, objects: Iterable[Obj]) -> None:
        """Put objects as they are, uid and status included."""
        for obj in objects:
            self.registry.load(obj)

    async def start(self) -> None:
        """Listen. OSError if the address is taken."""
        loop = asyncio.get_running_loop()

        def request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
            return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_LARGEST_BODY)

        self._web = web.Server(self.api.handle, request_factory=request, handler_cancellation=True, access_log=None)
        self._server = await loop.create_server(self._web, self.settings.host, self.settings.port, backlog=1024)
        self.port = self._server.sockets[0].getsockname()[1]
        self._tasks = [asyncio.create_task(part.run()) for part in self._stand_ins]

    async def stop(self) -> None:
        """Close the address and all connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._server is not None and self._web is not None:
            self._server.close()
            await self._web.shutdown(0.1)

    def _wake(self) -> None:
        for table in self.store.tables():
            table.wake()


async def serve(
    settings: Settings, objects: Iterable[Obj], ready: Callable[[Simulation], None], until: asyncio.Event
) -> None:
    """Run a simulator until the event; `ready` is called when it listens."""
    simulation = Simulation(settings, objects)
    await simulation.start()
    gc.collect()
    gc.freeze()  # the loaded objects stay; do not walk them again and again
    gc.set_threshold(50_000, 20, 50)
    ready(simulation)
    try:
        await until.wait()
    finally:
        await simulation.stop()


def kubeconfig(url: str) -> str:
    """A kubeconfig for a server that asks for no credentials."""
    name = "simulator"
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": {"server": url}}],
            "users": [{"name": name, "user": {"token": "simulator"}}],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
            "current-context": name,
        }
    )


class _Address:
    """What clients need of a server, wherever it runs."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.port = settings.port

    @property
    def url(self) -> str:
        """ "http://127.0.0.1:12345"."""
        return f"http://{self.settings.host}:{self.port}"

    def write_kubeconfig(self, path: Path) -> Path:
        """Write a kubeconfig that points here."""
        path.write_text(kubeconfig(self.url))
        return path


class ApiServer(_Address):
    """A simulator in a thread. Methods may be called from any other thread."""

    def __init__(self, objects: Iterable[Obj] = (), settings: Settings | None = None) -> None:
        super().__init__(settings or Settings())
        self._objects = list(objects)
        self._thread = threading.Thread(target=self._run, name="simulator", daemon=True)
        self._started: Future[Simulation] = Future()
        self._loop: asyncio.AbstractEventLoop
        self._until: asyncio.Event

    def start(self) -> Self:
        """Return when the server listens. OSError if its address is taken."""
        self._thread.start()
        self.port = self._started.result(_START_TIMEOUT_S).port
        return self

    def stop(self) -> None:
        """Close all connections and end the thread."""
        self._loop.call_soon_threadsafe(self._until.set)
        self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def call(self, function: Callable[[Simulation], T]) -> T:
        """Run a function of the simulation on the server's loop and return its result."""

        async def run() -> T:
            return function(self._started.result())

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result()

    def load(self, objects: Iterable[Obj]) -> None:
        """Put objects as they are, uid and status included; watches see them."""
        listed = list(objects)
        self.call(lambda simulation: simulation.load(listed))

    def fault(self, **rule: Any) -> Fault:
        """Put a fault in force (fields of `faults.Fault`); its `hits` counts on."""
        fault = Fault(**rule)
        return self.call(lambda simulation: simulation.faults.add(fault))

    def objects(self, kind: str, api_version: str = "v1", namespace: str = "") -> list[Obj]:
        """The present objects of a kind, in order of their keys; not to be changed."""
        table = BY_KIND[api_version, kind].table

        def read(simulation: Simulation) -> list[Obj]:
            found = simulation.store.table(table).objects
            return [found[key].obj for key in sorted(found) if key.startswith(f"{namespace}/" if namespace else "")]

        return self.call(read)

    def create(self, obj: Obj) -> Obj:
        """Create an object by the API's rules and return it."""
        resource = BY_KIND[obj["apiVersion"], obj["kind"]]
        home = obj["metadata"].get("namespace", "default") if resource.namespaced else ""
        return self.call(lambda simulation: simulation.registry.create(resource, home, obj).obj)

    def delete(self, plural: str, name: str, namespace: str = "default", group: str = "", version: str = "v1") -> None:
        """Delete an object with its own grace period."""
        resource = BY_PLURAL[group, version, plural]
        home = namespace if resource.namespaced else ""
        self.call(lambda simulation: simulation.registry.delete(resource, home, name, {}))

    def requests(self) -> dict[str, int]:
        """How many requests came so far, by "verb resource"."""
        return self.call(lambda simulation: dict(simulation.api.requests))

    def _run(self) -> None:
        uvloop.run(self._main())

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._until = asyncio.Event()
        try:
            simulation = Simulation(self.settings, self._objects)
            await simulation.start()
        except BaseException as error:
            self._started.set_exception(error)
            return
        self._started.set_result(simulation)
        await self._until.wait()
        await simulation.stop()


class ApiServerProcess(_Address):
    """A simulator in a process of its own; talk to it over HTTP."""

    def __init__(self, objects: Iterable[Obj] = (), settings: Settings | None = None) -> None:
        super().__init__(settings or Settings())
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_process, args=(self.settings, list(objects), theirs), name="simulator", daemon=True
        )

    def start(self) -> Self:
        """Return when the server listens. OSError if it does not come up."""
        self._process.start()
        if not self._pipe.poll(_START_TIMEOUT_S):
            self._process.kill()
            raise OSError(f"the simulator on {self.url} did not come up in {_START_TIMEOUT_S} s")
        answer = self._pipe.recv()
        if isinstance(answer, str):
            raise OSError(answer)
        self.port = answer
        return self

    @property
    def pid(self) -> int:
        """The process' id, once it was started."""
        return self._process.pid or 0

    def stop(self) -> None:
        """End the process."""
        self._pipe.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _process(settings: Settings, objects: list[Obj], pipe: Connection) -> None:
    """The body of the process: serve until the other end of the pipe is closed."""

    async def main() -> None:
        until = asyncio.Event()
        asyncio.get_running_loop().add_reader(pipe.fileno(), until.set)
        await serve(settings, objects, lambda simulation: pipe.send(simulation.port), until)

    try:
        uvloop.run(main())
    except OSError as error:
        pipe.send(str(error))
