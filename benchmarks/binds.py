"""Binds a second of the daemon's I/O side, beside the bare loader, against the embedded server in a process.

The I/O process is given binds to fixed nodes over the link: no session, then sessions of about 300 ms back to
back on the other side, in a thread that steps back as the daemon's does. The last bind's end, which the I/O
process says with its result, ends the clock. Loader and I/O take turns, so both meet the same machine. The
client's own limit of requests a second is lifted; in the daemon --kube-api-qps may be what limits.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from benchmarks import clusters, machine
from benchmarks.figures import Figure, amount, ratio
from benchmarks.loader import Server, Target, load
from benchmarks.stage import Stage
from vcsched.daemon.scheduling import step_back
from vcsched.kube.ioprocess import IOProcess
from vcsched.kube.link import Bind, Link, Synced, Wrote
from vcsched.kube.objects import Node, Pod, PodGroup
from vcsched.kube.settings import IOSettings
from vcsched.simulator.cluster import ApiServerProcess, Settings
from vcsched.simulator.kubelet import Pace
from vcsched.simulator.world import World

PODS, NODES, TURNS = 4_000, 100, 3
SESSION_S = 0.3
QUIET_S = 2.0  # before each turn: after the last answer the server still has the watch to serve
KINDS = (Node, Pod, PodGroup)
RUNS = ("loader", "quiet", "busy")


def binds() -> list[Figure]:
    """4,000 binds by the bare loader, by the I/O process alone, and beside sessions of 300 ms; three turns."""
    world = World()
    world.nodes(NODES, cpu=1_000, memory="4Ti", pods=10_000)
    gangs = {
        f"{run}-{turn}": world.gang(f"{run}-{turn}", pods=PODS, cpu=1).pods for turn in range(TURNS) for run in RUNS
    }
    sessions = _Sessions()
    rates: dict[str, list[float]] = {run: [] for run in RUNS}
    cpu_us: dict[str, list[float]] = {"loader": [], "quiet": []}
    with (
        ApiServerProcess(world.objects(), Settings(pace=Pace(start_s=3600))) as server,
        ThreadPoolExecutor(1, "session", step_back) as session_thread,
    ):
        io = IOProcess(IOSettings("", server.url, ("volcano",), qps=1e6, burst=1_000_000))
        link = io.link
        io.start()
        io.follow(KINDS)
        _wait_for_lists(link)
        for turn in range(TURNS):
            time.sleep(QUIET_S)
            pods = gangs[f"loader-{turn}"]
            targets = [Target("default", pod["metadata"]["name"], f"n-{i % NODES}") for i, pod in enumerate(pods)]
            loaded = load(Server(server.url), targets)
            rates["loader"].append(loaded.per_s)
            cpu_us["loader"].append(loaded.cpu_s / PODS * 1e6)
            cpu = time.process_time() + machine.cpu_s(io.pid)
            rates["quiet"].append(_bind(link, gangs[f"quiet-{turn}"], _rest))
            cpu_us["quiet"].append((time.process_time() + machine.cpu_s(io.pid) - cpu) / PODS * 1e6)
            rates["busy"].append(session_thread.submit(_bind, link, gangs[f"busy-{turn}"], sessions.run).result())
        io.stop()
    length = statistics.median(sessions.took_s) * 1e3
    beside = [ours / bare for ours, bare in zip(rates["quiet"], rates["loader"], strict=True)]
    during = [busy / quiet for busy, quiet in zip(rates["busy"], rates["quiet"], strict=True)]
    return [
        amount("bare loader", "binds/s", rates["loader"], more_is_better=True),
        amount("the daemon's I/O", "binds/s", rates["quiet"], more_is_better=True),
        ratio("… to the bare loader", beside, at_least=0.7),
        amount("… beside sessions", "binds/s", rates["busy"], more_is_better=True, note=f"sessions of {length:.0f} ms"),
        ratio("… beside sessions to without", during, at_least=0.6),
        amount("CPU of a bind, bare loader", "µs", cpu_us["loader"]),
        amount("CPU of a bind, the daemon's I/O", "µs", cpu_us["quiet"], note="with reading and decoding the watch"),
    ]


class _Sessions:
    """Sessions that place pods all the time: a gang that finds no room for its last pods is taken back whole.

    Several short ones in a row make one of the length wanted, whatever the machine.
    """

    def __init__(self) -> None:
        world = clusters.empty(20)
        world.gang("too-large", pods=700, cpu=1, memory="1Gi", min_resources=None)
        self._stage = Stage(world)
        self._stage.session()
        self.took_s: list[float] = []

    def run(self) -> None:
        started = time.perf_counter()
        while time.perf_counter() - started < SESSION_S:
            self._stage.cache.picture.changes += 1  # as an event that might help would
            self._stage.session()
        self._stage.writes()
        self.took_s.append(time.perf_counter() - started)


def _rest() -> None:
    time.sleep(0.02)


def _bind(link: Link, pods: list[dict[str, object]], meanwhile: Callable[[], None]) -> float:
    """Send all binds and wait for their results; binds a second."""
    messages = []
    for number, pod in enumerate(pods, start=1):
        meta: dict[str, str] = pod["metadata"]  # type: ignore[assignment]
        messages.append(Bind(number, "default", meta["name"], meta["uid"], f"n-{number % NODES}"))
    link.drain()
    started = ended = time.time()
    link.send(messages)
    left = len(messages)
    while left:
        meanwhile()
        for message in link.drain():
            if type(message) is Wrote:
                if not message.ok:
                    raise RuntimeError(f"a bind failed: {message.status} {message.reason}")
                left -= 1
                ended = max(ended, message.ended)
    return len(messages) / (ended - started)


def _wait_for_lists(link: Link) -> None:
    missing = set(KINDS)
    while missing:
        link.wait(1.0)
        missing -= {message.kind for message in link.drain() if type(message) is Synced}
