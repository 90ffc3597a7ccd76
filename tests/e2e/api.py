"""The admin's connection to an API server: plain calls for test code, many of them at a time underneath.

It speaks dicts and HTTP and shares nothing with `vcsched.kube`, so a mistake there cannot hide behind the
same mistake here. One thread runs the event loop; every public method may be called from the test's thread.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Coroutine, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import aiohttp
import msgspec
import yaml

Obj = dict[str, Any]
T = TypeVar("T")

AT_A_TIME = 48


class Resource(NamedTuple):
    """Where objects of a kind live below the server's address."""

    prefix: str
    plural: str
    namespaced: bool = True


RESOURCES = {
    "Namespace": Resource("api/v1", "namespaces", namespaced=False),
    "PriorityClass": Resource("apis/scheduling.k8s.io/v1", "priorityclasses", namespaced=False),
    "Queue": Resource("apis/scheduling.volcano.sh/v1beta1", "queues", namespaced=False),
    "Node": Resource("api/v1", "nodes", namespaced=False),
    "PodGroup": Resource("apis/scheduling.volcano.sh/v1beta1", "podgroups"),
    "Pod": Resource("api/v1", "pods"),
    "Event": Resource("api/v1", "events"),
    "Lease": Resource("apis/coordination.k8s.io/v1", "leases"),
}


class ApiError(AssertionError):
    """The server refused a request; `code` is the HTTP status, the text is the server's."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Api:
    """Requests as the user of a kubeconfig (server, certificate-authority and token are read)."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        token = config["users"][0]["user"].get("token")
        self._url = cluster["server"].rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        authority = cluster.get("certificate-authority")
        self._trust: ssl.SSLContext | bool = ssl.create_default_context(cafile=authority) if authority else True
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="test-api", daemon=True)
        self._thread.start()
        self._session = self.call(self._connect())

    async def _connect(self) -> aiohttp.ClientSession:
        # Watches keep their connections for themselves, hence no limit here but a count below.
        connector = aiohttp.TCPConnector(limit=0, ssl=self._trust)
        self._turn = asyncio.Semaphore(AT_A_TIME)
        return aiohttp.ClientSession(connector=connector, headers=self._headers, read_bufsize=2**22)

    # ---------------------------------------------------------------- for tests

    def create(self, objects: Iterable[Obj]) -> list[Obj]:
        """Create the objects, those of one kind at the same time; the server's version of each.

        What a World says beyond a creator's rights (uid, creation time) is left out; the status of a Queue
        goes to its subresource.
        """
        waiting = list(objects)
        made = []
        for kind in RESOURCES:
            made += self.call(_all(self._create(obj) for obj in waiting if obj["kind"] == kind))
        if len(made) < len(waiting):
            raise ValueError(f"no path known for {sorted({obj['kind'] for obj in waiting} - set(RESOURCES))}")
        return made

    def get(self, kind: str, name: str, namespace: str = "") -> Obj:
        """One object; `ApiError` 404 if there is none."""
        return self.call(self.request("GET", path(kind, namespace, name)))

    def list(self, kind: str, namespace: str = "", **query: str) -> list[Obj]:
        """The objects of a kind, in all namespaces by default."""
        found = self.call(self.request("GET", path(kind, namespace), query=query))
        return list(found["items"])

    def merge(self, kind: str, name: str, patch: Obj, namespace: str = "") -> Obj:
        """Merge-patch an object."""
        return self.call(self.request("PATCH", path(kind, namespace, name), patch))

    def delete(self, kind: str, name: str, namespace: str = "", **query: str) -> None:
        """Delete an object; that it is gone already is fine."""
        try:
            self.call(self.request("DELETE", path(kind, namespace, name), query=query))
        except ApiError as error:
            if error.code != 404:
                raise

    def delete_all(self, kind: str, namespace: str = "", **query: str) -> None:
        """Delete all objects of a kind (of a namespace, when the kind has namespaces)."""
        self.call(self.request("DELETE", path(kind, namespace), query=query))

    def close(self) -> None:
        """End the connections and the thread."""
        self.call(self._session.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    # ---------------------------------------------------------------- for coroutines on the loop

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def request(self, method: str, where: str, body: Any = None, query: Obj | None = None) -> Any:
        """One request; the decoded reply. Raises `ApiError` for anything but 2xx.

        A 429 is waited out: the server gives one for a moment also when a CRD is new.
        """
        while True:
            try:
                return await self._once(method, where, body, query)
            except ApiError as error:
                if error.code != 429:
                    raise
                await asyncio.sleep(1)

    async def _once(self, method: str, where: str, body: Any, query: Obj | None) -> Any:
        content = "application/merge-patch+json" if method == "PATCH" else "application/json"
        async with (
            self._turn,
            self._session.request(
                method,
                f"{self._url}/{where}",
                params=query,
                data=None if body is None else msgspec.json.encode(body),
                headers={"Content-Type": content},
            ) as reply,
        ):
            text = await reply.read()
            if not reply.ok:
                raise ApiError(reply.status, text.decode(errors="replace"))
            return msgspec.json.decode(text)

    @asynccontextmanager
    async def watch(self, kind: str, since: str) -> AsyncIterator[aiohttp.StreamReader]:
        """The lines of a watch on all namespaces, from a resourceVersion on."""
        query = {"watch": "1", "resourceVersion": since}
        where = f"{self._url}/{path(kind)}"
        patience = aiohttp.ClientTimeout(total=None)
        async with self._session.get(where, params=query, timeout=patience) as reply:
            reply.raise_for_status()
            yield reply.content

    async def _create(self, obj: Obj) -> Obj:
        kind, meta = obj["kind"], obj["metadata"]
        namespace = meta.get("namespace", "")
        mine = {key: value for key, value in meta.items() if key not in ("uid", "creationTimestamp")}
        made: Obj = await self.request("POST", path(kind, namespace), {**obj, "metadata": mine})
        if kind == "Queue" and "status" in obj:
            where = path(kind, namespace, meta["name"]) + "/status"
            made = await self.request("PATCH", where, {"status": obj["status"]})
        return made


def path(kind: str, namespace: str = "", name: str = "") -> str:
    """The path of a kind, or of one object, below the server's address."""
    where = RESOURCES[kind]
    parts = [where.prefix]
    if where.namespaced and namespace:
        parts += ["namespaces", namespace]
    parts.append(where.plural)
    if name:
        parts.append(name)
    return "/".join(parts)


async def _all(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    return await asyncio.gather(*work)
