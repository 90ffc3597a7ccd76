"""Small HTTP servers of the daemon, run in the main thread (spec 02 §4).

Routes are plain functions from the query to a `Reply`, so that nobody else needs to know the HTTP library.
What is served where is in `endpoints` and `loglevel`.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from aiohttp import web

KEEP_ALIVE_S = 180.0
GRACE_S = 30.0


class Reply(NamedTuple):
    """What a route answers."""

    body: str | bytes
    status: int = 200
    content_type: str = "text/plain; charset=utf-8"


Route = Callable[[Mapping[str, str]], Awaitable[Reply]]
"""Answers any method; the argument is the query."""


class Server:
    """A listening server; `address` is where, with the port that was given for port 0."""

    def __init__(self, runner: web.AppRunner, address: str) -> None:
        self._runner = runner
        self.address = address

    async def close(self) -> None:
        """Stop listening and wait, up to 30 s, for requests that run."""
        await self._runner.cleanup()


async def serve(routes: Mapping[str, Route], address: str, tls: ssl.SSLContext | None = None) -> Server:
    """Serve on `host:port`, the host empty for all addresses. OSError if that cannot be bound."""
    host, port = split_address(address)
    runner = await _runner(routes)
    try:
        await web.TCPSite(runner, host, port, ssl_context=tls).start()
    except BaseException:
        await runner.cleanup()
        raise
    bound = runner.addresses[0]
    return Server(runner, f"{host or 'localhost'}:{bound[1]}")


async def serve_unix(routes: Mapping[str, Route], path: Path) -> Server:
    """Serve on a Unix socket that only the own user may use; a socket left there before is replaced."""
    if path.is_socket():
        path.unlink()
    runner = await _runner(routes)
    before = os.umask(0o077)
    try:
        await web.UnixSite(runner, str(path)).start()
    except BaseException:
        await runner.cleanup()
        raise
    finally:
        os.umask(before)
    return Server(runner, str(path))


def split_address(address: str) -> tuple[str | None, int]:
    """Host (None: all) and port of `:8080`, `127.0.0.1:8080` or `[::1]:8080`; ValueError otherwise."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ValueError(f'"{address}" is not an address; write host:port or :port')
    return host.removeprefix("[").removesuffix("]") or None, int(port)


def server_tls(ca: str, certificate: str, key: str) -> ssl.SSLContext:
    """TLS 1.2 or newer with this certificate; a client certificate is checked against the CA if one is sent.

    OSError or ssl.SSLError where a file cannot be used; its text names the file.
    """
    for path in (ca, certificate, key):
        with open(path, "rb"):
            pass  # the library's own error does not name the file
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(ca)
    except ssl.SSLError as error:
        raise ssl.SSLError(f"TLS files {certificate}, {key}, {ca} cannot be used: {error}") from None
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


async def _runner(routes: Mapping[str, Route]) -> web.AppRunner:
    app = web.Application()
    for path, route in routes.items():
        app.router.add_route("*", path, _handler(route))
    runner = web.AppRunner(app, access_log=None, keepalive_timeout=KEEP_ALIVE_S, shutdown_timeout=GRACE_S)
    await runner.setup()
    return runner


def _handler(route: Route) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        reply = await route(request.query)
        body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        return web.Response(body=body, status=reply.status, headers={"Content-Type": reply.content_type})

    return answer
