"""A picture of all pods, and a stand-in for the kubelets of a control plane that has none.

Bound pods become Running, end when their World said so (`run_seconds`, `exit_code`), and go when they are
deleted. The picture is what the API server's watch showed, never what was asked for.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import aiohttp
import msgspec

from tests.e2e.api import Api, ApiError, path
from vcsched.simulator.fragments import EXIT_CODE, RUN_SECONDS

Obj = dict[str, Any]


class Kubelet:
    """Follows every pod of the cluster.

    `pods` holds the last state by (namespace, name). `moved` names pods whose node changed after it was set,
    which must never happen. With `run` false the pods are only followed and stay bound, for large tests.
    """

    def __init__(self, api: Api, *, run: bool = True) -> None:
        self.pods: dict[tuple[str, str], Obj] = {}
        self.moved: list[str] = []
        self.run = run
        self._api = api
        self._started: set[str] = set()
        self._chores: set[asyncio.Task[None]] = set()
        self._task = api.call(self._start())

    def stop(self) -> None:
        """Stop following; what was begun for single pods is dropped."""
        self._api.call(self._end())

    async def _start(self) -> asyncio.Task[None]:
        return asyncio.create_task(self._follow())

    async def _end(self) -> None:
        tasks = [self._task, *self._chores]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self) -> None:
        while True:
            try:
                listed = await self._api.request("GET", path("Pod"))
            except (ApiError, aiohttp.ClientError):  # a fault that the test has put in force
                await asyncio.sleep(0.1)
                continue
            self.pods = {_key(pod): pod for pod in listed["items"]}
            for pod in listed["items"]:
                self._look_after(pod)
            # A cut connection or an expired version: list anew.
            with contextlib.suppress(aiohttp.ClientError):
                await self._watch(listed["metadata"]["resourceVersion"])

    async def _watch(self, since: str) -> None:
        async with self._api.watch("Pod", since) as lines:
            async for line in lines:
                event = msgspec.json.decode(line)
                pod = event["object"]
                if event["type"] == "ERROR":
                    return
                if event["type"] == "DELETED":
                    self.pods.pop(_key(pod), None)
                    continue
                before = self.pods.get(_key(pod))
                if before and _node(before) and _same(before, pod) and _node(before) != _node(pod):
                    self.moved.append(f"{pod['metadata']['name']}: {_node(before)} -> {_node(pod)}")
                self.pods[_key(pod)] = pod
                self._look_after(pod)

    def _look_after(self, pod: Obj) -> None:
        meta = pod["metadata"]
        if not self.run or not _node(pod):
            return
        if "deletionTimestamp" in meta:
            self._do(self._finish_deleting(pod))
        elif pod["status"]["phase"] == "Pending" and meta["uid"] not in self._started:
            self._started.add(meta["uid"])
            self._do(self._run(pod))

    def _do(self, work: Any) -> None:
        chore = asyncio.create_task(_unless_gone(work))
        self._chores.add(chore)
        chore.add_done_callback(self._chores.discard)

    async def _run(self, pod: Obj) -> None:
        ready = [{"type": kind, "status": "True"} for kind in ("PodScheduled", "Initialized", "Ready")]
        await self._status(pod, {"phase": "Running", "conditions": ready})
        notes = pod["metadata"].get("annotations", {})
        if (seconds := notes.get(RUN_SECONDS)) is not None:
            await asyncio.sleep(float(seconds))
            failed = notes.get(EXIT_CODE, "0") != "0"
            await self._status(pod, {"phase": "Failed" if failed else "Succeeded"})

    async def _status(self, pod: Obj, status: Obj) -> None:
        patch = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        await self._api.request("PATCH", _where(pod) + "/status", patch)

    async def _finish_deleting(self, pod: Obj) -> None:
        precondition = {"preconditions": {"uid": pod["metadata"]["uid"]}, "gracePeriodSeconds": 0}
        await self._api.request("DELETE", _where(pod), precondition)


async def _unless_gone(work: Any) -> None:
    """A pod that was deleted or made anew meanwhile needs nothing more."""
    try:
        await work
    except ApiError as error:
        if error.code not in (404, 409):
            raise


def _key(pod: Obj) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


def _where(pod: Obj) -> str:
    return path("Pod", *_key(pod))


def _node(pod: Obj) -> str:
    return str(pod["spec"].get("nodeName", ""))


def _same(a: Obj, b: Obj) -> bool:
    return bool(a["metadata"]["uid"] == b["metadata"]["uid"])
