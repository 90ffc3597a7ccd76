"""The kubelet stand-in: bound pods start after a delay, end when their time is over, and stop when deleted.

A pod's annotation `simulator.vcsched.io/run-seconds` says how long it runs (without it: `run_s`, None is for
ever) and `…/exit-code` whether it then has Succeeded (0) or Failed. It pulls no image, runs nothing, and does
not check whether the node has room: that is what the scheduler under test has to get right.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from vcsched.simulator.admission import condition, set_condition
from vcsched.simulator.errors import ApiError
from vcsched.simulator.fragments import EXIT_CODE, RUN_SECONDS
from vcsched.simulator.registry import NODES, PODS, Registry
from vcsched.simulator.store import Change, Obj, Table

_TICK_S = 0.02  # due work is done in batches of this length
_READY = ("Initialized", "ContainersReady", "Ready")
Step = Literal["start", "end", "stop"]


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast pods live; all in seconds."""

    start_s: float = 0.1  # from the binding to Running
    run_s: float | None = None  # from Running to the end, for pods that do not say; None: they do not end
    stop_s: float = 0.1  # from the deletion to the end, if the grace period is not shorter


class Kubelet:
    """All nodes' kubelets in one."""

    def __init__(self, registry: Registry, pace: Pace) -> None:
        self._registry = registry
        self._pace = pace
        self._nodes = registry.store.table(NODES.table)
        self._pods = registry.store.table(PODS.table)
        self._due: list[tuple[float, int, Step, str, str]] = []
        self._order = itertools.count()
        self._planned: set[tuple[Step, str]] = set()
        registry.store.listeners.append(self._saw)

    async def run(self) -> None:
        """Do what is due, for ever."""
        while True:
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                _, _, step, key, uid = heapq.heappop(self._due)
                self._planned.discard((step, uid))
                version = self._pods.objects.get(key)
                if version is not None and version.obj["metadata"]["uid"] == uid:
                    self._do(step, version.obj)
            await asyncio.sleep(_TICK_S)

    def _saw(self, table: Table, change: Change) -> None:
        if table is not self._pods or change.type == "DELETED":
            return
        pod = change.version.obj
        node = pod["spec"].get("nodeName")
        if not node or node not in self._nodes.objects:
            return
        phase = pod["status"].get("phase")
        if "deletionTimestamp" in pod["metadata"]:
            grace = pod["metadata"].get("deletionGracePeriodSeconds", 0)
            self._plan("stop", pod, min(self._pace.stop_s, grace))
        elif phase == "Pending":
            self._plan("start", pod, self._pace.start_s)
        elif phase == "Running":
            seconds = _seconds(pod, self._pace.run_s)
            if seconds is not None:
                self._plan("end", pod, seconds)

    def _plan(self, step: Step, pod: Obj, delay_s: float) -> None:
        meta = pod["metadata"]
        uid = meta["uid"]
        if (step, uid) in self._planned:
            return
        self._planned.add((step, uid))
        key = f"{meta['namespace']}/{meta['name']}"
        heapq.heappush(self._due, (time.monotonic() + delay_s, next(self._order), step, key, uid))

    def _do(self, step: Step, pod: Obj) -> None:
        meta = pod["metadata"]
        if step == "stop":
            try:
                options = {"gracePeriodSeconds": 0, "preconditions": {"uid": meta["uid"]}}
                self._registry.delete(PODS, meta["namespace"], meta["name"], options)
            except ApiError:
                return  # gone meanwhile
        elif "deletionTimestamp" not in meta:
            status = _running(pod, self._registry.now()) if step == "start" else _ended(pod, self._registry.now())
            key = f"{meta['namespace']}/{meta['name']}"
            made = {**pod, "metadata": dict(meta), "status": status}
            self._registry.store.put(self._pods, key, made)


def _seconds(pod: Obj, otherwise: float | None) -> float | None:
    text = (pod["metadata"].get("annotations") or {}).get(RUN_SECONDS)
    try:
        return otherwise if text is None else float(text)
    except ValueError:
        return otherwise


def _running(pod: Obj, now: str) -> Obj:
    kept = [each for each in pod["status"].get("conditions") or () if each.get("type") not in _READY]
    number = int(pod["metadata"]["uid"][:4], 16)
    state = {"running": {"startedAt": now}}
    return {
        **pod["status"],
        "phase": "Running",
        "conditions": [*kept, *_ready_conditions(now)],
        "startTime": now,
        "podIP": f"10.0.{number >> 8}.{number & 255}",
        "containerStatuses": [_container(box, state, ready=True) for box in pod["spec"]["containers"]],
    }


@lru_cache(maxsize=4)
def _ready_conditions(now: str) -> tuple[Obj, ...]:
    """Shared by all pods that start in this second; stored objects are never changed."""
    return tuple(condition(kind, "True", now) for kind in _READY)


def _ended(pod: Obj, now: str) -> Obj:
    text = (pod["metadata"].get("annotations") or {}).get(EXIT_CODE, "0")
    code = int(text) if text.lstrip("-").isdigit() else 1
    reason = "Error" if code else "Completed"
    conditions = pod["status"].get("conditions") or []
    for kind in _READY[1:]:
        conditions = set_condition(conditions, condition(kind, "False", now, reason="PodCompleted"))
    state = {"terminated": {"exitCode": code, "reason": reason, "finishedAt": now}}
    return {
        **pod["status"],
        "phase": "Failed" if code else "Succeeded",
        "conditions": conditions,
        "containerStatuses": [_container(box, state, ready=False) for box in pod["spec"]["containers"]],
    }


def _container(box: Obj, state: Obj, *, ready: bool) -> Obj:
    made = {"name": box["name"], "image": box.get("image", ""), "imageID": "", "restartCount": 0}
    return {**made, "ready": ready, "started": ready, "state": state}
