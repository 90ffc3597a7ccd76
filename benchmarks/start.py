"""From the start of the process to its first bind in a large cluster, and what memory it holds then and later.

The cluster is served by the embedded server in a process of its own; the daemon is the real one, under the
arguments of deploy/.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import re
import tempfile
import time
import urllib.request
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import uvloop

from benchmarks import clusters, machine
from benchmarks.figures import Figure, amount
from tests.e2e.daemon import Daemon
from vcsched.simulator.cluster import Settings, kubeconfig, serve
from vcsched.simulator.kubelet import Pace

NODES, PODS, GROUPS = 5_000, 140_000, 87_000
SETTLING_S, RUNNING_S = 10.0, 30.0  # the second is good for well over 1,000 sessions
PATIENCE_S = 300.0


class MeasuredDaemon(Daemon):
    """A daemon whose process can be looked at."""

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def page(self) -> str:
        """/metrics, waited for longer than a test would."""
        with urllib.request.urlopen(self._metrics, timeout=PATIENCE_S) as reply:
            return str(reply.read().decode())


def start() -> list[Figure]:
    """5,000 nodes, 140,000 running pods, 87,000 PodGroups and one gang that waits."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    server = context.Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    url = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "kubeconfig"
        config.write_text(kubeconfig(url))
        began = time.perf_counter()
        daemon = MeasuredDaemon(config, "--schedule-period=10ms")
        try:
            _wait_for_bind(url, daemon)
            first_bind_s, cpu_s = time.perf_counter() - began, machine.cpu_s(daemon.pid)
            at_first = machine.resident_mb(daemon.pid)
            time.sleep(SETTLING_S)
            settled = machine.resident_mb(daemon.pid)
            time.sleep(RUNNING_S)
            later = machine.resident_mb(daemon.pid)
            asked, cpu = time.perf_counter(), machine.cpu_s(daemon.pid)
            page = daemon.page()
            page_s, page_cpu_s = time.perf_counter() - asked, machine.cpu_s(daemon.pid) - cpu
        finally:
            daemon.close()
            server.kill()
    return [
        amount("start to first bind", "s", [first_bind_s], at_most=30, note=f"{cpu_s:.1f} s of CPU time"),
        amount("resident memory at the first bind", "MB", [at_first], at_most=2_000, reference=2_200),
        amount("growth meanwhile", "MB", [later - settled], at_most=10, reference=3_300, note=_sessions(page)),
        amount("a page of /metrics", "s", [page_s], note=f"{len(page):,} bytes, {page_cpu_s:.1f} s of CPU time"),
    ]


def _sessions(page: str) -> str:
    found = re.search(r"^volcano_e2e_scheduling_latency_milliseconds_count (\S+)", page, re.MULTILINE)
    return f"{float(found.group(1)):,.0f} sessions had run at the end" if found else "no session had run"


def _wait_for_bind(url: str, daemon: MeasuredDaemon) -> None:
    def bound() -> bool:
        with urllib.request.urlopen(f"{url}/api/v1/namespaces/default/pods/first-0", timeout=10) as reply:
            return "nodeName" in json.load(reply)["spec"]

    _wait(bound, daemon)


def _wait(until: Callable[[], object], daemon: MeasuredDaemon) -> None:
    give_up = time.monotonic() + PATIENCE_S
    while not until():
        if daemon.ended or time.monotonic() > give_up:
            raise RuntimeError(f"the daemon ended, or was not there in {PATIENCE_S:.0f} s\n{daemon.log[-3000:]}")
        time.sleep(0.05)


def _serve(pipe: Connection) -> None:
    world = clusters.running(NODES, PODS, GROUPS)
    world.gang("first", pods=100, cpu=1, memory="1Gi")
    settings = Settings(pace=Pace(start_s=3600))
    uvloop.run(serve(settings, world.objects(), lambda simulation: pipe.send(simulation.port), asyncio.Event()))
