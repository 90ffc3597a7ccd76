"""A small API server in the test's own loop, whose every answer can be made to fail.

It keeps objects by path, counts resourceVersions, and knows just enough of lists, watches, bindings and
patches for the transport to be told right from wrong. `fail` queues faults; `requests` is what arrived.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Raw = dict[str, Any]


@dataclass
class Fault:
    """What happens to the next `times` requests that match: answer `status`, or cut the connection.

    With `status` 0 the connection is cut; `applied` says whether the request took effect before.
    """

    method: str
    path: str
    status: int
    times: int = 1
    reason: str = ""
    message: str = "fault"
    headers: dict[str, str] = field(default_factory=dict)
    applied: bool = False
    wait: asyncio.Event | None = None


@dataclass
class Seen:
    method: str
    path: str
    query: dict[str, str]
    body: Any
    content_type: str


class FakeServer:
    def __init__(self) -> None:
        self.objects: dict[str, Raw] = {}
        self.version = 10
        self.requests: list[Seen] = []
        self.faults: list[Fault] = []
        self.watches: list[tuple[str, asyncio.Queue[bytes | None]]] = []
        self.log: list[tuple[int, str, Raw]] = []  # every change: version, event type, object with path
        self.oldest = 0  # watches from before this version are answered 410
        self.served: Callable[[str], bool] = lambda path: True
        self.in_flight = 0
        self.most_in_flight = 0
        self.delay_s = 0.0
        self.held: asyncio.Event | None = None  # no request is answered before it is set
        self._runner: web.AppRunner | None = None
        self.url = ""

    async def __aenter__(self) -> FakeServer:
        app = web.Application(client_max_size=1 << 28)
        app.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.cut_watches()
        assert self._runner is not None
        await self._runner.cleanup()

    # ---------------------------------------------------------------- what tests say

    def fail(self, method: str, path: str, status: int, **more: Any) -> Fault:
        fault = Fault(method, path, status, **more)
        self.faults.append(fault)
        return fault

    def put(self, path: str, obj: Raw, event: bool = True) -> Raw:
        """Create or change an object at "/api/v1/namespaces/ns/pods/name"."""
        kind = "MODIFIED" if path in self.objects else "ADDED"
        self.version += 1
        meta = {**obj.get("metadata", {}), "resourceVersion": str(self.version)}
        obj = {**obj, "metadata": meta}
        self.objects[path] = obj
        self._tell(kind, path, obj, event)
        return obj

    def remove(self, path: str, event: bool = True) -> None:
        obj = self.objects.pop(path)
        self.version += 1
        obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": str(self.version)}}
        self._tell("DELETED", path, obj, event)

    def send(self, line: bytes) -> None:
        for _, queue in self.watches:
            queue.put_nowait(line)

    def bookmark(self, collection: str, version: int) -> None:
        for path, queue in self.watches:
            if path == collection:
                event = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": str(version)}}}
                queue.put_nowait(json.dumps(event).encode() + b"\n")

    def cut_watches(self) -> None:
        for _, queue in self.watches:
            queue.put_nowait(None)
        self.watches.clear()

    def sent(self, method: str, path: str = "") -> list[Seen]:
        return [r for r in self.requests if r.method == method and re.search(path, r.path)]

    # ---------------------------------------------------------------- what it does

    def _tell(self, kind: str, path: str, obj: Raw, event: bool) -> None:
        self.log.append((self.version, kind, {"path": path, "object": obj}))
        if not event:
            return
        line = json.dumps({"type": kind, "object": obj}).encode() + b"\n"
        for collection, queue in self.watches:
            if in_collection(path, collection):
                queue.put_nowait(line)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw) if raw else None
        seen = Seen(request.method, request.path, dict(request.query), body, request.content_type)
        self.requests.append(seen)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.held is not None:
                await self.held.wait()
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            for fault in self.faults:
                if fault.times and fault.method == seen.method and re.search(fault.path, seen.path):
                    fault.times -= 1
                    if fault.wait is not None:
                        await fault.wait.wait()
                    if fault.applied:
                        self._answer(seen)
                    if fault.status == 0:
                        assert request.transport is not None
                        request.transport.abort()
                        return web.Response(status=500)
                    return failure(fault.status, fault.reason, fault.message, fault.headers)
            if "watch" in seen.query:
                return await self._watch(request, seen)
            return self._answer(seen)
        finally:
            self.in_flight -= 1

    async def _watch(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        since = int(seen.query["resourceVersion"])
        if since < self.oldest:
            return failure(410, "Expired", "too old resource version")
        queue: asyncio.Queue[bytes | None] = asyncio.Queue()
        for version, kind, what in self.log:
            if version > since and in_collection(what["path"], seen.path):
                queue.put_nowait(json.dumps({"type": kind, "object": what["object"]}).encode() + b"\n")
        self.watches.append((seen.path, queue))
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        while (line := await queue.get()) is not None:
            await response.write(line)
        if request.transport is not None:  # the client may have gone first
            request.transport.abort()
        return response

    def _answer(self, seen: Seen) -> web.Response:
        if not self.served(seen.path):
            return failure(404, "NotFound", "the server could not find the requested resource")
        if seen.method == "GET":
            return self._get(seen)
        if seen.method == "POST":
            return self._post(seen)
        path = seen.path.removesuffix("/status")
        found = self.objects.get(path)
        if found is None:
            return failure(404, "NotFound", f"{path} not found")
        meta = (seen.body or {}).get("metadata", {}) if seen.method != "DELETE" else {}
        wanted = meta.get("uid") or ((seen.body or {}).get("preconditions") or {}).get("uid")
        if wanted and wanted != found["metadata"].get("uid"):
            if seen.method == "DELETE":
                return failure(409, "Conflict", "Precondition failed: UID")
            return failure(422, "Invalid", "metadata.uid: Invalid value: field is immutable")
        guard = meta.get("resourceVersion")
        if guard and guard != found["metadata"]["resourceVersion"]:
            return failure(409, "Conflict", "the object has been modified")
        if seen.method == "DELETE":
            self.remove(path)
            return answer({"kind": "Status", "status": "Success"})
        made = seen.body if seen.method == "PUT" else patched(found, seen)
        return answer(self.put(path, made))

    def _get(self, seen: Seen) -> web.Response:
        if seen.path == "/version":
            return answer({"gitVersion": "v1.36.1"})
        if seen.path in self.objects:
            return answer(self.objects[seen.path])
        if not re.search(r"/[a-z]+s$|/[a-z]+es$", seen.path):
            return failure(404, "NotFound", f"{seen.path} not found")
        items = [obj for path, obj in sorted(self.objects.items()) if in_collection(path, seen.path)]
        name = seen.query.get("fieldSelector", "").removeprefix("metadata.name=")
        if name:
            items = [obj for obj in items if obj["metadata"]["name"] == name]
        start = int(seen.query.get("continue") or 0)
        end = start + int(seen.query.get("limit") or len(items) or 1)
        meta = {"resourceVersion": str(self.version), "continue": str(end) if end < len(items) else ""}
        return answer({"metadata": meta, "items": items[start:end]})

    def _post(self, seen: Seen) -> web.Response:
        if not seen.path.endswith("/binding"):
            path = f"{seen.path}/{seen.body['metadata']['name']}"
            if path in self.objects:
                return failure(409, "AlreadyExists", f"{path} already exists")
            return answer(self.put(path, seen.body), 201)
        path = seen.path.removesuffix("/binding")
        pod = self.objects.get(path)
        if pod is None:
            return failure(404, "NotFound", "pod not found")
        if pod["metadata"].get("uid") != seen.body["metadata"]["uid"]:
            return failure(409, "Conflict", "Precondition failed: UID")
        if pod["spec"].get("nodeName"):
            return failure(409, "Conflict", f"pod is already assigned to node {pod['spec']['nodeName']}")
        self.put(path, {**pod, "spec": {**pod["spec"], "nodeName": seen.body["target"]["name"]}})
        return answer({"kind": "Status", "status": "Success"}, 201)


def in_collection(path: str, collection: str) -> bool:
    """Whether the object lies in a collection, which may span all namespaces."""
    parent = path.rpartition("/")[0]
    return parent == collection or re.sub(r"/namespaces/[^/]+", "", parent) == collection


def patched(found: Raw, seen: Seen) -> Raw:
    if seen.content_type == "application/strategic-merge-patch+json":
        body = json.loads(json.dumps(seen.body))
        ours = (body.get("status") or {}).pop("conditions", None)
        made = merge(found, body)
        if ours is not None:
            by_type = {c["type"]: c for c in found.get("status", {}).get("conditions", [])}
            for condition in ours:
                by_type[condition["type"]] = merge(by_type.get(condition["type"], {}), condition)
            made["status"]["conditions"] = list(by_type.values())
        return made
    return merge(found, seen.body)


def merge(old: Any, new: Any) -> Any:
    if not isinstance(new, dict) or not isinstance(old, dict):
        return new
    made = dict(old)
    for key, value in new.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merge(made.get(key, {} if isinstance(value, dict) else None), value)
    return made


def answer(obj: Raw, status: int = 200) -> web.Response:
    return web.json_response(obj, status=status)


def failure(status: int, reason: str, message: str, headers: dict[str, str] | None = None) -> web.Response:
    body = {"kind": "Status", "code": status, "reason": reason, "message": message}
    return web.json_response(body, status=status, headers=headers)
