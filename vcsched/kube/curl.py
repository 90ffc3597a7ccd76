"""Single requests through libcurl, driven by the event loop.

A request costs the daemon a third of what it costs through aiohttp. Watches stay with that: they are few and long.

While requests are under way libcurl is given steps, in which it takes up whatever has arrived: after a millisecond
first, then after a tenth of the time that nothing came. New requests leave in the same pass of the loop. Of one
answer a step takes 160 kB at most: while more of a long one, such as a list, lies there, the next step follows at
once. Telling us about each socket and timer instead, as it could, takes it and us a third longer; and many answers
are taken in turns anyway (`turns`). One handle serves one request at a time and is used again, as is its connection:
over HTTP/1.1 an API server took a tenth more writes a second here than over HTTP/2, at the same CPU time of ours.
"""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

import pycurl

from vcsched.kube.config import Login
from vcsched.kube.errors import ApiError, FencedError
from vcsched.kube.gate import Gate

log = logging.getLogger(__name__)

CONNECT_S = 10.0
IDLE_S = 60
MAX_CONNECTIONS = 512
FIRST_S, LONGEST_S, GROWTH = 0.001, 0.02, 1.1  # pauses between steps

_NOT_SENT = {pycurl.E_COULDNT_CONNECT, pycurl.E_COULDNT_RESOLVE_HOST, pycurl.E_COULDNT_RESOLVE_PROXY}


class Answer(NamedTuple):
    """What came back; `retry_after` in seconds, 0 for nothing."""

    status: int
    retry_after: int
    body: bytes


class Curl:
    """Requests of one login. Made on the loop that sends them; `close` ends what is in flight."""

    def __init__(self, login: Login, gate: Gate) -> None:
        self._login = login
        self._gate = gate
        self._loop = asyncio.get_running_loop()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, MAX_CONNECTIONS)
        self._timer: asyncio.TimerHandle | None = None  # the next step after a pause, while requests are under way
        self._pause_s = FIRST_S
        self._steps_soon = False
        self._free: list[pycurl.Curl] = []
        self._ends: dict[pycurl.Curl, asyncio.Future[int]] = {}  # handle -> 0, or libcurl's error

    async def send(self, method: str, url: str, body: bytes | None, headers: list[str], timeout_s: float) -> Answer:
        """One request. Raises `ApiError` with status 0 when no answer came, `FencedError` behind a shut gate."""
        handle = self._free.pop() if self._free else self._handle()
        data: list[bytes] = []
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.HTTPHEADER, headers)
        handle.setopt(pycurl.WRITEFUNCTION, data.append)
        handle.setopt(pycurl.TIMEOUT_MS, int(timeout_s * 1000))
        if body is None:
            handle.setopt(pycurl.HTTPGET, 1)  # forgets the body of the request before
        else:
            handle.setopt(pycurl.POSTFIELDS, body)
        handle.setopt(pycurl.CUSTOMREQUEST, method)
        end = self._loop.create_future()
        self._ends[handle] = end
        try:
            self._multi.add_handle(handle)
            self._start()
            error = await end
        finally:
            if self._ends.pop(handle, None) is not None:  # cancelled: the handle is still at work
                self._multi.remove_handle(handle)
            self._free.append(handle)
        if error:
            raise self._failure(handle, error, f"{method} {url}")
        return Answer(handle.getinfo(pycurl.RESPONSE_CODE), handle.getinfo(pycurl.RETRY_AFTER), b"".join(data))

    def close(self) -> None:
        """End every request in flight."""
        for handle, end in list(self._ends.items()):
            self._multi.remove_handle(handle)
            del self._ends[handle]
            if not end.done():
                end.set_result(pycurl.E_ABORTED_BY_CALLBACK)
        for handle in self._free:
            handle.close()
        self._free.clear()
        self._multi.close()

    # ------------------------------------------------------------------ handles

    def _handle(self) -> pycurl.Curl:
        handle = pycurl.Curl()
        login = self._login
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.TCP_NODELAY, 1)
        handle.setopt(pycurl.CONNECTTIMEOUT_MS, int(CONNECT_S * 1000))
        handle.setopt(pycurl.MAXAGE_CONN, IDLE_S)
        handle.setopt(pycurl.USERAGENT, "vcsched")
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        # asked when the connection stands and the request is about to leave, however long connecting took
        handle.setopt(pycurl.PREREQFUNCTION, self._may_leave)
        if login.proxy:
            handle.setopt(pycurl.PROXY, login.proxy)
        if login.ca_file:
            handle.setopt(pycurl.CAINFO, login.ca_file)
        if not login.verify:
            handle.setopt(pycurl.SSL_VERIFYPEER, 0)
            handle.setopt(pycurl.SSL_VERIFYHOST, 0)
        if login.cert_file:
            handle.setopt(pycurl.SSLCERT, login.cert_file)
            handle.setopt(pycurl.SSLKEY, login.key_file or login.cert_file)
        if login.connect_to:
            handle.setopt(pycurl.CONNECT_TO, [login.connect_to])
        return handle

    def _may_leave(self, *_: object) -> int:
        may: int = pycurl.PREREQFUNC_ABORT if self._gate.is_shut else pycurl.PREREQFUNC_OK
        return may

    def _failure(self, handle: pycurl.Curl, error: int, what: str) -> Exception:
        if self._gate.is_shut:
            return FencedError("the gate was shut before an answer came")
        sent = error not in _NOT_SENT and handle.getinfo(pycurl.REQUEST_SIZE) > 0
        if error == pycurl.E_OPERATION_TIMEDOUT:
            return ApiError(0, "Timeout", f"{what}: no answer in time", sent=sent)
        return ApiError(0, "Connection", f"{what}: {handle.errstr() or f'libcurl error {error}'}", sent=sent)

    # ------------------------------------------------------------------ libcurl and the loop

    def _start(self) -> None:
        """A request was added: all that are added in this pass of the loop leave together."""
        self._step_soon()
        self._pause_shortly()

    def _step_soon(self) -> None:
        if not self._steps_soon:
            self._steps_soon = True
            self._loop.call_soon(self._step)

    def _pause_shortly(self) -> None:
        """Something happened, so more may come soon."""
        if self._timer is None or self._pause_s > FIRST_S:
            self._pause(FIRST_S)

    def _pause(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._pause_s = seconds
        self._timer = self._loop.call_later(seconds, self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self._ends:
            self._pause(min(LONGEST_S, self._pause_s * GROWTH))  # first: a step that fails must not be the last
            self._step()

    def _step(self) -> None:
        self._steps_soon = False
        if self._ends:
            self._multi.perform()
            goes_on = self._multi.timeout() == 0  # it stopped with something left to do
            if goes_on:
                self._step_soon()
            if self._collect() or goes_on:
                self._pause_shortly()

    def _collect(self) -> int:
        """Take what has ended; how many that were."""
        ended = 0
        while True:
            left, done, failed = self._multi.info_read()
            ended += len(done) + len(failed)
            for handle in done:
                self._end(handle, 0)
            for handle, error, _text in failed:
                self._end(handle, error)
            if not left:
                return ended

    def _end(self, handle: pycurl.Curl, error: int) -> None:
        self._multi.remove_handle(handle)
        end = self._ends.pop(handle, None)
        if end is not None and not end.done():
            end.set_result(error)
