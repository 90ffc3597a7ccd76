"""The HTTP side of the simulator: requests to registry calls, objects to answers.

One handler serves every path, without a router or middlewares: binding a pod is the hot path of tests and
benchmarks, and each microsecond here is taken from the scheduler that shares the machine. It speaks JSON
only. Server-side apply is answered 415, on which kubectl explains itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Any

import msgspec
from aiohttp import web

from vcsched.simulator import discovery, lists, patch, proto, scale, tables
from vcsched.simulator.errors import ApiError, too_many_requests
from vcsched.simulator.faults import Fault, Faults
from vcsched.simulator.lists import Lists
from vcsched.simulator.registry import Registry
from vcsched.simulator.resources import Resource
from vcsched.simulator.routes import Route, route, split
from vcsched.simulator.selectors import selector
from vcsched.simulator.store import Obj, Store, Version
from vcsched.simulator.watch import Stream

logger = logging.getLogger(__name__)
_encode = msgspec.json.encode
_decode = msgspec.json.decode
_BOUND = _encode({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
_JSON = {"Content-Type": "application/json"}


class Api:
    """Answers requests from one store. `requests` counts them by "verb resource"."""

    def __init__(self, store: Store, registry: Registry, faults: Faults) -> None:
        self._store = store
        self._registry = registry
        self._faults = faults
        self._lists = Lists(store)
        self.requests: Counter[str] = Counter()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """The one request handler."""
        try:
            path, query = split(request.raw_path)
            if path.startswith(("/api/v1/", "/apis/")) and path.count("/") > 2 + path.startswith("/apis/"):
                if path.startswith("/apis/authorization.k8s.io/"):
                    return _json(discovery.access_review(_body(request, await request.read())), 201)
                return await self._resource(request, route(path, query))
            return await self._other(request, path)
        except ApiError as error:
            headers = {"Retry-After": str(error.retry_after_s)} if error.retry_after_s else None
            return _json(error.status(), error.code, headers)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            logger.exception("%s %s", request.method, request.raw_path)
            return _json(ApiError(500, f"the simulator could not handle this: {error}").status(), 500)

    # ---------------------------------------------------------------- kinds

    async def _resource(self, request: web.BaseRequest, way: Route) -> web.StreamResponse:
        verb = way.verb(request.method)
        self.requests[f"{verb} {way.target}"] += 1
        body = await request.read()
        fault = None
        if self._faults.active:
            fault = self._faults.hit(verb, way.target, way.namespace, way.name)
            if fault is not None and fault.action != "lost":
                await self._suffer(fault)
        if verb == "watch":
            return await self._watch(request, way)
        answer = self._answer(request, way, verb, body)
        if fault is not None and fault.action == "lost" and request.transport is not None:
            request.transport.abort()
        return answer

    @staticmethod
    async def _suffer(fault: Fault) -> None:
        if fault.action == "latency":
            await asyncio.sleep(fault.seconds)
        elif fault.code == 429:
            raise too_many_requests(fault.retry_after_s)
        else:
            raise ApiError(fault.code, f"injected fault: answer {fault.code}")

    def _answer(self, request: web.BaseRequest, way: Route, verb: str, body: bytes) -> web.Response:
        """Everything but watches; it never waits, so each request is one step of the store's history."""
        registry, resource = self._registry, way.resource
        if verb == "create":
            if way.subresource == "binding":
                registry.bind(way.namespace, way.name, _body(request, body))
                return web.Response(body=_BOUND, status=201, headers=_JSON)
            if way.subresource == "eviction":
                registry.evict(way.namespace, way.name, _body(request, body))
                return web.Response(body=_BOUND, status=201, headers=_JSON)
            if way.name:
                raise ApiError(405, "objects are created by a POST to their collection")
            made = registry.create(resource, way.namespace, _body(request, body), dry_run=_dry_run(way))
            return self._object(request, resource, made, 201)
        if way.subresource in ("binding", "eviction"):
            raise ApiError(405, f"{way.subresource} takes POST only")
        if verb == "list":
            return self._list(request, way)
        if verb == "get":
            found = registry.get(resource, way.namespace, way.name)
            if way.subresource == "scale":
                return _json(scale.of(found.obj))
            return self._object(request, resource, found)
        if verb in ("update", "patch") and way.name:
            return self._write(request, way, verb, body)
        if verb == "delete":
            return self._delete(request, way, body)
        if verb == "deletecollection":
            for version in self._select(way).versions:
                meta = version.obj["metadata"]
                registry.delete(resource, meta.get("namespace", ""), meta["name"], _body(request, body, empty={}))
            return _json({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"})
        raise ApiError(405, f"the method {request.method} is not allowed here")

    def _write(self, request: web.BaseRequest, way: Route, verb: str, body: bytes) -> web.Response:
        read = _body(request, body)
        change = (lambda old: read) if verb == "update" else _patch(request.content_type, way.resource, read)
        if way.subresource == "scale":
            change = scale.through(change)
        made = self._registry.update(
            way.resource,
            way.namespace,
            way.name,
            change,
            subresource=way.subresource,
            patch=verb == "patch",
            dry_run=_dry_run(way),
        )
        if way.subresource == "scale":
            return _json(scale.of(made.obj))
        return self._object(request, way.resource, made)

    def _delete(self, request: web.BaseRequest, way: Route, body: bytes) -> web.Response:
        options = _body(request, body, empty={})
        for number in ("gracePeriodSeconds",):
            if number in way.query:
                options[number] = int(way.query[number])
        if "propagationPolicy" in way.query:
            options["propagationPolicy"] = way.query["propagationPolicy"]
        if _dry_run(way) or options.get("dryRun"):
            return self._object(request, way.resource, self._registry.get(way.resource, way.namespace, way.name))
        last = self._registry.delete(way.resource, way.namespace, way.name, options)
        return self._object(request, way.resource, last)

    def _select(self, way: Route) -> lists.Page:
        query = way.query
        test = selector(query.get("labelSelector", ""), query.get("fieldSelector", ""))
        limit = query.get("limit", "0")
        if not limit.isdigit():
            raise ApiError(400, f"limit is {limit!r}; it must be a number")
        return self._lists.page(way.resource, way.namespace, test, int(limit), query.get("continue", ""))

    def _list(self, request: web.BaseRequest, way: Route) -> web.Response:
        page = self._select(way)
        if tables.wanted(request.headers.get("Accept", "")):
            return _json(tables.table(way.resource, [version.obj for version in page.versions], page))
        return web.Response(body=lists.encode(way.resource, page), headers=_JSON)

    def _object(self, request: web.BaseRequest, resource: Resource, version: Version, code: int = 200) -> web.Response:
        if tables.wanted(request.headers.get("Accept", "")):
            return _json(tables.table(resource, [version.obj]), code)
        return web.Response(body=version.body, status=code, headers=_JSON)

    async def _watch(self, request: web.BaseRequest, way: Route) -> web.StreamResponse:
        fields = way.query.get("fieldSelector", "")
        test = selector(way.query.get("labelSelector", ""), fields)
        render = tables.rows_of(way.resource) if tables.wanted(request.headers.get("Accept", "")) else None
        return await Stream(self._store, self._faults, way, test, render).run(request)

    # ---------------------------------------------------------------- the rest

    async def _other(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        if path.startswith("/simulator/"):
            return await self._control(request, path)
        document = discovery.document(path.rstrip("/") or "/", request.headers.get("Accept", ""))
        if document is None:
            raise ApiError(404, "the server could not find the requested resource")
        content, content_type = document
        if isinstance(content, str):
            return web.Response(text=content)
        return web.Response(body=_encode(content), headers={"Content-Type": content_type})

    async def _control(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        """`/simulator/faults`, `/simulator/requests`, `/simulator/compact`: for tests, not of Kubernetes."""
        if path == "/simulator/faults":
            if request.method == "POST":
                try:
                    self._faults.add(msgspec.json.decode(await request.read(), type=Fault))
                except msgspec.DecodeError as error:
                    raise ApiError(400, f"not a fault: {error}") from None
            elif request.method == "DELETE":
                self._faults.clear()
            return _json(list(self._faults))
        if path == "/simulator/requests":
            if request.method == "DELETE":
                self.requests.clear()
            return _json(self.requests)
        if path == "/simulator/compact" and request.method == "POST":
            self.compact()
            return _json({})
        raise ApiError(404, f"there is no {path}; see vcsched/simulator/apiserver.py")

    def compact(self) -> None:
        """Forget all history: old watch versions and continue tokens are answered 410 from now on."""
        self._lists.forget()
        for table in self._store.tables():
            table.compact()


def _json(content: Any, code: int = 200, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(body=_encode(content), status=code, headers=_JSON | headers if headers else _JSON)


def _body(request: web.BaseRequest, data: bytes, empty: Obj | None = None) -> Any:
    if not data and empty is not None:
        return dict(empty)
    if data[:1] == b"k" and request.content_type == proto.CONTENT_TYPE:
        return proto.decode(data)
    try:
        return _decode(data)
    except msgspec.DecodeError as error:
        raise ApiError(400, f"the body is no JSON object: {error}") from None


def _dry_run(way: Route) -> bool:
    return way.query.get("dryRun") == "All"


def _patch(content_type: str, resource: Resource, read: Any) -> Any:
    """The change a PATCH asks for."""
    match content_type:
        case "application/merge-patch+json":
            return lambda old: patch.merge_patch(old, read)
        case "application/json-patch+json":
            return lambda old: patch.json_patch(old, read)
        case "application/strategic-merge-patch+json" if resource.columns is None:
            return lambda old: patch.strategic_merge(old, read)
    raise ApiError(
        415,
        f"{content_type} is not supported for {resource.plural}; use application/merge-patch+json",
    )
