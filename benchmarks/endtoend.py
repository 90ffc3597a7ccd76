"""The eight scenarios on a real API server: 1,000 nodes, 10,000 pods, the daemon beside the bare loader.

All pods are there before the daemon starts. Its time runs from the begin of the session that first binds
(which its log tells) to the last bind by the API server's own audit log; that all pods are bound is what a third
party's watch says, some time later. The loader binds pods of another scheduler before and after, under the same
account, so that the audit costs both the same; its time ends with the last answer.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from benchmarks import machine
from benchmarks.figures import Figure, amount, ratio
from benchmarks.loader import Target, load_in_process, server_of
from benchmarks.observer import Observer
from benchmarks.start import MeasuredDaemon
from tests.controlplane import build
from tests.controlplane.launch import ControlPlane
from tests.e2e.api import Api
from tests.e2e.daemon import DEPLOY
from vcsched.simulator.world import World

NODES, PODS, LOADED = 1_000, 10_000, 4_000
NAMESPACE, ACCOUNT = "volcano-system", "vcsched-scheduler"
PATIENCE_S = 300.0
QUIET_S = 3.0  # events and statuses are complete when nothing was asked for so long
SESSION = re.compile(r"^I(\d{4} \S+) .*\bsession of ([\d.]+) ms: (?!0 pods)", re.MULTILINE)
WRITING = ("create", "update", "patch", "delete")


class Scenario(NamedTuple):
    """So many jobs of so many pods; `gang`: all or nothing, else each pod for itself."""

    jobs: int
    pods: int
    gang: bool
    reference: float | None  # pods/s measured on the reference

    @property
    def is_bare(self) -> bool:
        """Pods without PodGroups, as kube-scheduler would get them."""
        return self.pods == 1 and not self.gang

    @property
    def groups(self) -> int:
        return 0 if self.is_bare else self.jobs


_MEASURED = [
    Scenario(10_000, 1, True, 146),
    Scenario(500, 20, True, 183),
    Scenario(20, 500, True, 196),
    Scenario(1, 10_000, True, None),
    Scenario(10_000, 1, False, None),
    Scenario(500, 20, False, None),
    Scenario(20, 500, False, None),
    Scenario(1, 10_000, False, None),
]


def _benchmark(scenario: Scenario) -> Callable[[], list[Figure]]:
    def run() -> list[Figure]:
        return _run(scenario)

    kind = "gangs" if scenario.gang else "jobs without a minimum"
    run.__doc__ = f"{scenario.jobs:,} {kind} of {scenario.pods:,} on {NODES:,} nodes, real API server."
    return run


SCENARIOS = {f"{'gang' if s.gang else 'free'}-{s.jobs}x{s.pods}": _benchmark(s) for s in _MEASURED}


def _run(scenario: Scenario) -> list[Figure]:
    with (
        tempfile.TemporaryDirectory(prefix="vcsched-bench-") as folder,
        ControlPlane(Path(folder)) as plane,
    ):
        kubectl = [str(build.kubectl()), "--kubeconfig", str(plane.admin)]
        subprocess.run([*kubectl, "apply", "-k", str(DEPLOY)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(
            [*kubectl, "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        account = plane.service_account_kubeconfig(NAMESPACE, ACCOUNT)
        with contextlib.closing(Api(plane.admin)) as api:
            api.create(_world(scenario).objects())
            with contextlib.closing(Observer(api)) as observer:
                loads = [_load(account, 0, observer)]
                ours = _daemon(scenario, plane, account, observer)
                loads.append(_load(account, 1, observer))
    bare = sum(loads) / len(loads)
    name = f"{scenario.jobs:,} × {scenario.pods:,}"
    codes = {code: count for code, count in ours.codes.items() if code >= 400}
    extra = (ours.writes - 2 * scenario.groups) / PODS
    return [
        amount("bare loader, before and after", "binds/s", loads, more_is_better=True),
        amount(
            name,
            "pods/s",
            [PODS / ours.took_s],
            more_is_better=True,
            reference=scenario.reference,
            note=ours.note,
        ),
        ratio("… to the bare loader", [PODS / ours.took_s / bare], at_least=0.85),
        amount("answers 504", "requests", [ours.codes[504]], at_most=0, note=f"refused: {codes}" if codes else ""),
        amount("API writes a pod beyond two a job", "writes", [extra], at_most=2.05),
        amount("API writes a pod, all", "writes", [ours.writes / PODS]),
        amount(
            "CPU a thousand pods, to the last bind", "s", [ours.bound_cpu_s / PODS * 1e3], at_most=0.8, reference=5.4
        ),
        amount("… with the statuses and events behind", "s", [ours.cpu_s / PODS * 1e3], at_most=0.8, reference=5.4),
    ]


class _Measured(NamedTuple):
    took_s: float
    bound_cpu_s: float
    cpu_s: float
    writes: int
    codes: Counter[int]
    note: str


def _daemon(scenario: Scenario, plane: ControlPlane, account: Path, observer: Observer) -> _Measured:
    asked = len(plane.asked())
    daemon = MeasuredDaemon(account, "--schedule-period=1s")
    try:
        with machine.CpuLog(daemon.pid) as cpu:
            seen = observer.wait_for("work", PODS, PATIENCE_S)
            _wait_until_quiet(plane)
        began, session_ms = _first_session(daemon.log)
    except RuntimeError as error:
        raise RuntimeError(f"{error}\n{daemon.log[-4000:]}") from error
    finally:
        daemon.close()
    requests = plane.asked()[asked:]
    written = [
        request for request in requests if request.verb in WRITING and request.resource != "selfsubjectaccessreviews"
    ]
    last = max(request.at for request in written if request.resource == "pods/binding" and request.code == 201)
    writes = Counter(request.resource for request in written)
    early = Counter(request.resource for request in written if began < request.at < last)
    return _Measured(
        took_s=last - began,
        bound_cpu_s=cpu.since(began, last),
        cpu_s=cpu.since(began),
        writes=writes.total(),
        codes=Counter(request.code for request in requests),
        note=f"{dict(writes)}, before the last bind {dict(early)}; the watch saw it {seen - last:.1f} s later; "
        f"first session {session_ms:.0f} ms; CPU before the first session {cpu.at(began):.1f} s",
    )


def _first_session(log: str) -> tuple[float, float]:
    """When the first session that bound pods began, in unix seconds, and how long it took in ms."""
    found = SESSION.search(log)
    if found is None:
        raise RuntimeError("the log tells of no session that bound pods (it needs --v=3)")
    ended = datetime.strptime(f"{datetime.now().year}{found[1]}", "%Y%m%d %H:%M:%S.%f")
    return ended.timestamp() - float(found[2]) / 1e3, float(found[2])


def _wait_until_quiet(plane: ControlPlane) -> None:
    before = -1
    while (now := len(plane.asked())) != before:
        before = now
        time.sleep(QUIET_S)


def _load(account: Path, turn: int, observer: Observer) -> float:
    """Binds/s of the loader, until the observer has seen the last."""
    names = [f"load{turn}-{number}" for number in range(LOADED)]
    targets = [Target("default", name, f"n-{number % NODES}") for number, name in enumerate(names)]
    loaded = load_in_process(server_of(account), targets)
    observer.wait_for(f"load{turn}", LOADED, PATIENCE_S)
    return loaded.per_s


def _world(scenario: Scenario) -> World:
    world = World()
    world.nodes(NODES, cpu=64, memory="256Gi")
    for turn in range(2):
        for number in range(LOADED):
            world.pod(f"load{turn}-{number}", scheduler="nobody", labels={"of": f"load{turn}"})
    for number in range(scenario.jobs):
        if scenario.is_bare:
            world.pod(f"w{number}", cpu=1, memory="1Gi", labels={"of": "work"})
            continue
        least = scenario.pods if scenario.gang else 1
        world.gang(f"w{number}", pods=scenario.pods, min_member=least, cpu=1, memory="1Gi", labels={"of": "work"})
    return world
