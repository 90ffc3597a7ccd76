"""The HTTP client: raw bytes in and out, one kind of error; libcurl for requests, aiohttp for watches.

It knows paths, deadlines, credentials and rate limits, and nothing about what is written: bodies come
encoded, answers leave undecoded, so that callers pay only for what they read. Retrying is the caller's
business, but for one: a 401 makes the login load its credentials anew, and the request is sent once more.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Final
from urllib.parse import urlencode

import aiohttp
import msgspec
from aiohttp.connector import Connection
from yarl import URL

from vcsched.kube.config import Login
from vcsched.kube.curl import Curl
from vcsched.kube.errors import ApiError, LoginError, from_answer
from vcsched.kube.gate import Gate
from vcsched.kube.objects import KINDS, Object
from vcsched.kube.ratelimit import Bucket

JSON: Final = "application/json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"

Params = Mapping[str, str | int]


class Client:
    """Requests to one API server. Every method raises `ApiError`, and `FencedError` once the gate is shut."""

    def __init__(
        self,
        login: Login,
        *,
        qps: float = 2000.0,
        burst: int = 2000,
        gate: Gate | None = None,
        timeout_s: float = 30.0,
    ) -> None:
        self.login = login
        self.gate = gate or Gate()
        self.core = Bucket(qps, burst)
        self.volcano = Bucket(qps, burst)
        self.events = Bucket(qps, burst)
        self.election = Bucket(qps, burst)
        self._timeout_s = timeout_s
        self._session: aiohttp.ClientSession | None = None  # for watches
        self._curl: Curl | None = None  # for everything else
        self._headers: dict[tuple[str, str], list[str]] = {}
        self.on_written: Callable[[float], None] = _forget
        """Told how long the answer to a request that changes something took, waits of our own not counted."""

    async def open(self) -> None:
        """Make the connections; must run on the loop that will send the requests."""
        self._curl = Curl(self.login, self.gate)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=self.login.tls or True, keepalive_timeout=60),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            request_class=_gated(self.gate),
            headers={
                "User-Agent": "vcsched",
                "Accept": JSON,
                "Accept-Encoding": "identity",  # unpacking costs more than the local network
            },
        )

    async def close(self) -> None:
        """End every connection; requests in flight end with an error."""
        if self._curl is not None:
            self._curl.close()
            self._curl = None
        if self._session is not None:
            await self._session.close()

    # ---------------------------------------------------------------- verbs

    async def get(
        self,
        path: str,
        params: Params | None = None,
        timeout_s: float | None = None,
        via: Bucket | None = None,
    ) -> bytes:
        return await self.request("GET", path, None, JSON, params, timeout_s, via)

    async def create(self, path: str, body: bytes, timeout_s: float | None = None, via: Bucket | None = None) -> bytes:
        return await self.request("POST", path, body, JSON, None, timeout_s, via)

    async def put(self, path: str, body: bytes, timeout_s: float | None = None, via: Bucket | None = None) -> bytes:
        return await self.request("PUT", path, body, JSON, None, timeout_s, via)

    async def patch(
        self,
        path: str,
        body: bytes,
        content_type: str = MERGE_PATCH,
        timeout_s: float | None = None,
        via: Bucket | None = None,
    ) -> bytes:
        return await self.request("PATCH", path, body, content_type, None, timeout_s, via)

    async def delete(self, path: str, body: bytes | None = None, timeout_s: float | None = None) -> bytes:
        return await self.request("DELETE", path, body, JSON, None, timeout_s)

    # ---------------------------------------------------------------- requests

    async def request(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        content_type: str = JSON,
        params: Params | None = None,
        timeout_s: float | None = None,
        via: Bucket | None = None,
    ) -> bytes:
        """Send one request and return the body of a 2xx answer."""
        self.gate.check()
        await (via or self._bucket(path)).take()
        for again in (True, False):
            self.gate.check()
            used = self.login.header
            began = time.monotonic()
            status, retry_after, data = await self._open_curl.send(
                method,
                self.login.url + self._target(path, params),
                body,
                self._lines(used, content_type),
                timeout_s or self._timeout_s,
            )
            if method != "GET":
                self.on_written(time.monotonic() - began)
            if status < 300:
                return data
            if status == 401 and again:
                await self._renew(used)
                continue
            raise from_answer(status, data, str(retry_after), f"{method} {path}")
        raise AssertionError("unreachable")

    async def lines(
        self, path: str, params: Params, total_s: float, silence_s: float
    ) -> AsyncGenerator[list[bytes], None]:
        """The lines of a watch, in batches as they arrive; ends when the server ends the stream.

        Raises `ApiError` with status 0 when the stream is cut, stays silent for `silence_s` or lasts longer
        than `total_s`. An unfinished last line is dropped: whoever resumes gets that event whole.
        """
        self.gate.check()
        await self._bucket(path).take()
        timeout = aiohttp.ClientTimeout(total=total_s, sock_connect=10, sock_read=silence_s)
        used = self.login.header
        try:
            async with self._open_session.get(
                URL(self.login.server + self._target(path, params), encoded=True),
                headers={"Authorization": used} if used else {},
                timeout=timeout,
                proxy=self.login.proxy,
                server_hostname=self.login.server_name,
            ) as answer:
                if answer.status == 401:
                    await self._renew(used)
                if answer.status >= 300:
                    data = await answer.read()
                    raise from_answer(answer.status, data, answer.headers.get("Retry-After"), f"watch {path}")
                rest = b""
                async for chunk in answer.content.iter_any():
                    parts = (rest + chunk).split(b"\n") if rest else chunk.split(b"\n")
                    rest = parts.pop()
                    if parts:
                        yield parts
        except TimeoutError as error:
            raise ApiError(0, "Timeout", f"watch {path}: silent or too long") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ApiError(0, "Connection", f"watch {path}: {error or type(error).__name__}") from error

    async def fresh(self, kind: type[Object], namespace: str, name: str, by_list: bool = False) -> bytes:
        """The newest state of one object; `by_list` for roles that may list but not get."""
        resource = KINDS[kind]
        if not by_list:
            return await self.get(resource.path(namespace, name))
        raw = await self.get(resource.path(namespace), {"fieldSelector": f"metadata.name={name}"})
        items = _ITEMS.decode(raw).items or []
        if not items:
            raise ApiError(404, "NotFound", f"{resource.plural} {name!r} not found")
        return bytes(items[0])

    # ---------------------------------------------------------------- parts

    @property
    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise RuntimeError("the client was not opened")
        return self._session

    @property
    def _open_curl(self) -> Curl:
        if self._curl is None:
            raise RuntimeError("the client was not opened")
        return self._curl

    async def _renew(self, used: str) -> None:
        try:
            await self.login.renew(used)
        except LoginError as error:
            raise ApiError(401, "Unauthorized", str(error)) from error

    def _bucket(self, path: str) -> Bucket:
        return self.volcano if path.startswith("/apis/scheduling.volcano.sh/") else self.core

    def _target(self, path: str, params: Params | None) -> str:
        return f"{path}?{urlencode(params)}" if params else path

    def _lines(self, authorization: str, content_type: str) -> list[str]:
        """Header lines of a single request, made once per credential and type."""
        key = (authorization, content_type)
        made = self._headers.get(key)
        if made is None:
            if len(self._headers) > 8:  # a rotated token leaves its old entries behind
                self._headers.clear()
            made = [f"Content-Type: {content_type}", f"Accept: {JSON}", "Expect:"]
            if authorization:
                made.append(f"Authorization: {authorization}")
            self._headers[key] = made
        return made


def _forget(_: float) -> None:
    """For a client whose answers nobody times."""


def _gated(gate: Gate) -> type[aiohttp.ClientRequest]:
    """Requests that ask the gate once more at the moment they leave, when connecting may have taken long."""

    class Gated(aiohttp.ClientRequest):
        async def send(self, conn: Connection) -> aiohttp.ClientResponse:
            gate.check()
            return await super().send(conn)

    return Gated


class _Items(msgspec.Struct):
    items: list[msgspec.Raw] | None = None


_ITEMS = msgspec.json.Decoder(_Items)
