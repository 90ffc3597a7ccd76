"""The bare loader: posts bindings to nodes chosen beforehand, with a watch open, and does nothing else.

What it reaches is what the API server gives on this machine at this moment: the yardstick for everything that
binds. It shares no code with `vcsched.kube`.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import ssl
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import aiohttp
import msgspec
import uvloop
import yaml

CONNECTIONS = 32


class Target(NamedTuple):
    """A pod and where it goes."""

    namespace: str
    name: str
    node: str


class Server(NamedTuple):
    """Where the API server is and as whom to speak; plain values, for another process."""

    url: str
    token: str = ""
    authority: str = ""  # path of the certificate authority


@dataclass
class Loaded:
    """What a run of the loader gave. `statuses` counts answers."""

    pods: int
    wall_s: float
    cpu_s: float
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def per_s(self) -> float:
        return self.pods / self.wall_s


def server_of(kubeconfig: Path) -> Server:
    """The server of a kubeconfig with a token or without credentials."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    return Server(cluster["server"].rstrip("/"), user.get("token", ""), cluster.get("certificate-authority", ""))


def load(server: Server, targets: Sequence[Target], connections: int = CONNECTIONS) -> Loaded:
    """Bind all targets from this process."""
    return uvloop.run(_load(server, targets, connections))


def load_in_process(server: Server, targets: Sequence[Target], connections: int = CONNECTIONS) -> Loaded:
    """The same from a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(load, (server, list(targets), connections))


async def _load(server: Server, targets: Sequence[Target], connections: int) -> Loaded:
    trust = ssl.create_default_context(cafile=server.authority) if server.authority else True
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if server.token:
        headers["Authorization"] = f"Bearer {server.token}"
    statuses: Counter[int] = Counter()
    pods_url = f"{server.url}/api/v1/pods"
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=trust), headers=headers, read_bufsize=2**22
    ) as session:
        async with session.get(pods_url, params={"limit": "1"}) as answer:
            version = msgspec.json.decode(await answer.read())["metadata"]["resourceVersion"]
        watch = asyncio.create_task(_watch(session, pods_url, version))
        waiting = iter(targets)

        async def post() -> None:
            for target in waiting:
                url = f"{server.url}/api/v1/namespaces/{target.namespace}/pods/{target.name}/binding"
                async with session.post(url, data=_body(target)) as answer:
                    await answer.read()
                    statuses[answer.status] += 1

        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(post() for _ in range(connections)))
        loaded = Loaded(len(targets), time.perf_counter() - wall, time.process_time() - cpu, statuses)
        watch.cancel()
    failed = {status: count for status, count in statuses.items() if status != 201}
    if failed:
        raise RuntimeError(f"the bare loader was answered {failed}")
    return loaded


async def _watch(session: aiohttp.ClientSession, url: str, version: str) -> None:
    query = {"watch": "1", "resourceVersion": version}
    async with session.get(url, params=query, timeout=aiohttp.ClientTimeout(total=None)) as stream:
        async for _ in stream.content.iter_any():
            pass


def _body(target: Target) -> bytes:
    return (
        f'{{"apiVersion":"v1","kind":"Binding","metadata":{{"name":"{target.name}",'
        f'"namespace":"{target.namespace}"}},"target":{{"apiVersion":"v1","kind":"Node","name":"{target.node}"}}}}'
    ).encode()
