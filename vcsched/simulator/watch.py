"""Watches: the changes of a kind as a stream of lines, from a version on.

A stream holds no queue of its own. It remembers the last version it sent and reads the store's history, so a
slow reader costs nothing and falls out of the history at last (410, as on the real server). The lines are the
bytes the store keeps; with a selector an object that comes into view is ADDED and one that leaves it DELETED.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator

import msgspec
from aiohttp import web

from vcsched.simulator.errors import ApiError, expired
from vcsched.simulator.faults import Faults
from vcsched.simulator.resources import Resource
from vcsched.simulator.routes import Route
from vcsched.simulator.selectors import Test
from vcsched.simulator.store import Change, CompactedError, Obj, Store, Table, Version

_BOOKMARK_S = 15.0
_LONGEST_S = 1800.0
_GATHER_S = 0.001  # changes that come this close together share a write

_encode = msgspec.json.encode
Render = Callable[[Obj], Obj]


class Stream:
    """One open watch. `render` turns objects into table rows for clients that asked for those."""

    def __init__(
        self, store: Store, faults: Faults, route: Route, test: Test | None, render: Render | None = None
    ) -> None:
        self._store = store
        self._faults = faults
        self._resource: Resource = route.resource
        self._table: Table = store.table(route.resource.table)
        self._namespace = route.namespace
        self._test = self._in_view(test, route)
        self._render = render
        query = route.query
        self._bookmarks = query.get("allowWatchBookmarks") in ("true", "1")
        self._initial = query.get("sendInitialEvents") in ("true", "1")
        self._from = self._version(query.get("resourceVersion", ""))
        seconds = query.get("timeoutSeconds", "")
        self._end = time.monotonic() + (float(seconds) if seconds else _LONGEST_S)

    async def run(self, request: web.BaseRequest) -> web.StreamResponse:
        """Send until the time is over, the client leaves or a fault ends it."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.enable_chunked_encoding()
        await response.prepare(request)
        try:
            await self._send(request, response)
        except CompactedError:
            await response.write(self._error(expired()))
        except ConnectionError:
            pass  # the client left
        return response

    async def _send(self, request: web.BaseRequest, response: web.StreamResponse) -> None:
        position = self._store.rv
        if self._initial or not self._from:
            await response.write(b"".join(self._present(position)))
        elif self._from > position:  # a version of another life of the server
            raise CompactedError
        else:
            position = self._from
        next_bookmark = time.monotonic() + _BOOKMARK_S
        while True:
            if self._faults.active:
                fault = self._faults.hit("watch", self._table.name, self._namespace, "", watch=True)
                if fault and fault.action == "stall":
                    await asyncio.sleep(fault.seconds)
                elif fault and fault.action == "gone":
                    raise CompactedError
                elif fault:
                    _abort(request)
                    return
            changes = self._table.since(position)
            now = time.monotonic()
            if changes:
                position = changes[-1].version.rv
                if lines := b"".join(self._lines(changes)):
                    await response.write(lines)
            elif self._bookmarks and now >= next_bookmark:
                position = self._store.rv
                await response.write(self._bookmark(position))
            if now >= self._end:
                return
            if now >= next_bookmark:
                next_bookmark = now + _BOOKMARK_S
            try:
                async with asyncio.timeout(min(next_bookmark, self._end) - now):
                    await self._table.changed(position)
                await asyncio.sleep(_GATHER_S)
            except TimeoutError:
                pass

    # ---------------------------------------------------------------- lines

    def _present(self, rv: int) -> Iterator[bytes]:
        for key in sorted(self._table.objects):
            version = self._table.objects[key]
            if self._test is None or self._test(version.obj):
                yield self._line("ADDED", version)
        if self._initial and self._bookmarks:
            yield self._bookmark(rv, {"k8s.io/initial-events-end": "true"})

    def _lines(self, changes: list[Change]) -> Iterator[bytes]:
        test = self._test
        if test is None and self._render is None:
            for change in changes:
                yield change.frame
            return
        for change in changes:
            kind = change.type
            if test is not None:
                now = test(change.version.obj)
                before = change.old is not None and test(change.old.obj)
                if kind == "MODIFIED":
                    if not now and not before:
                        continue
                    kind = "MODIFIED" if now and before else "ADDED" if now else "DELETED"
                elif not (now if kind == "ADDED" else before):
                    continue
            yield (change.frame if kind == change.type and not self._render else self._line(kind, change.version))

    def _line(self, kind: str, version: Version) -> bytes:
        body = _encode(self._render(version.obj)) if self._render else version.body
        return b'{"type":"%s","object":%s}\n' % (kind.encode(), body)

    def _bookmark(self, rv: int, annotations: dict[str, str] | None = None) -> bytes:
        meta: Obj = {"resourceVersion": str(rv), "creationTimestamp": None}
        if annotations:
            meta["annotations"] = annotations
        kind = {"kind": self._resource.kind, "apiVersion": self._resource.api_version, "metadata": meta}
        return b'{"type":"BOOKMARK","object":%s}\n' % _encode(kind)

    @staticmethod
    def _error(error: ApiError) -> bytes:
        return b'{"type":"ERROR","object":%s}\n' % _encode(error.status())

    # ---------------------------------------------------------------- inside

    @staticmethod
    def _version(text: str) -> int:
        if text and not text.isdigit():
            raise ApiError(400, f"invalid resource version {text!r}: it must be a number")
        return int(text or 0)

    @staticmethod
    def _in_view(test: Test | None, route: Route) -> Test | None:
        """The selectors together with namespace and name of the path."""
        namespace, name = route.namespace, route.name
        if not namespace and not name:
            return test

        def in_view(obj: Obj) -> bool:
            meta = obj["metadata"]
            if (namespace and meta.get("namespace") != namespace) or (name and meta["name"] != name):
                return False
            return test is None or test(obj)

        return in_view


def _abort(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.abort()
