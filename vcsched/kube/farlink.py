"""A link between two processes: a socket pair, and frames of messages on it.

The session thread reads its end itself, when it drains: no thread stands between, and while a session runs
nothing of what arrives costs it anything. What it sends is written by a thread that does nothing else, since
a socket may be full for a moment and a session must not wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import select
import socket
import threading
import time
from collections.abc import Iterable

from vcsched.kube.frames import Unpacker, pack_inbound, pack_outbound
from vcsched.kube.link import Inbound, Link, Outbound

_CHUNK = 1 << 20
_AT_ONCE = 32 << 20
"""Bytes taken in by one drain; at the start of a large cluster it goes on with the next one."""

_MUCH = 64 << 10
"""Bytes in a drain that show a socket which was full: the other side holds more, and it follows at once."""

_GO_ON_S, _GAP_MS = 0.05, 2.0
"""Such a drain takes in what follows for so long at most, until nothing comes for a gap."""

_BACKLOG = 32 << 20
"""Bytes that wait for the session thread when a list is to pause."""


class SessionEnd(Link):
    """The session side; `sock` is its end of the pair. Questions are put here, by threads of this process."""

    def __init__(self, sock: socket.socket) -> None:
        super().__init__()
        self.sent = 0
        self._sock = sock
        self._unpacker = Unpacker()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._poll = select.poll()
        self._poll.register(self._wake, select.POLLIN)
        self._poll.register(sock, select.POLLIN)
        self._more = select.poll()
        self._more.register(sock, select.POLLIN)
        self._packed: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._sender = threading.Thread(target=self._send_all, name="link", daemon=True)
        self._sender.start()

    def drain(self) -> list[Inbound]:
        with contextlib.suppress(BlockingIOError):
            os.eventfd_read(self._wake)
        taken = super().drain()
        size, until = 0, 0.0
        while size < _AT_ONCE:
            try:
                data = self._sock.recv(_CHUNK, socket.MSG_DONTWAIT)
            except BlockingIOError:
                if size < _MUCH:
                    break
                until = until or time.monotonic() + _GO_ON_S
                if time.monotonic() > until or not self._more.poll(_GAP_MS):
                    break
                continue
            except OSError:
                data = b""
            if not data:
                self._hang_up()
                break
            size += len(data)
            taken += self._unpacker.feed(data)
        return taken

    def send(self, messages: Iterable[Outbound]) -> None:
        batch = list(messages)
        self.sent += len(batch)
        self._packed.put(pack_outbound(batch))

    def wait(self, timeout_s: float) -> bool:
        return bool(self._poll.poll(max(0.0, timeout_s) * 1000.0))

    def put(self, message: Inbound) -> None:
        super().put(message)
        os.eventfd_write(self._wake, 1)

    def close(self) -> None:
        """Send no more. What has arrived can still be drained."""
        self._packed.put(None)
        self._sender.join(5.0)

    def _hang_up(self) -> None:
        """The other side is gone: do not look at the socket any more, or every wait would end at once."""
        with contextlib.suppress(KeyError):
            self._poll.unregister(self._sock)

    def _send_all(self) -> None:
        while (data := self._packed.get()) is not None:
            try:
                self._sock.sendall(data)
            except OSError:  # the other side is gone, which `ioprocess` notices by itself
                return


class IOEnd(Link, asyncio.Protocol):
    """The I/O side. All of it belongs to the I/O loop, on which `open` is awaited before anything is put."""

    def __init__(self, sock: socket.socket) -> None:
        Link.__init__(self)
        self.received = 0
        self._sock = sock
        self._unpacker = Unpacker()
        self._waiting: list[Inbound] = []
        self._has_room = asyncio.Event()
        self._has_room.set()

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        made = await self._loop.create_unix_connection(lambda: self, sock=self._sock)
        self._transport: asyncio.WriteTransport = made[0]
        self._transport.set_write_buffer_limits(_BACKLOG)

    def put(self, message: Inbound) -> None:
        if not self._waiting:  # what is put in the same turn of the loop leaves together
            self._loop.call_soon(self._flush)
        self._waiting.append(message)

    async def room(self) -> None:
        self._flush()
        await self._has_room.wait()

    async def has_received(self, count: int, timeout_s: float) -> None:
        """Wait until so many messages have come from the session side, or for so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self.received < count:
                    await asyncio.sleep(0.005)

    async def delivered(self, timeout_s: float) -> None:
        self._flush()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while self._transport.get_write_buffer_size():
                    await asyncio.sleep(0.005)

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._transport.write(pack_inbound(waiting))

    # ---------------------------------------------------------------- asyncio.Protocol

    def data_received(self, data: bytes) -> None:
        messages: list[Outbound] = self._unpacker.feed(data)
        if messages:
            self.received += len(messages)
            self.send(messages)

    def pause_writing(self) -> None:
        self._has_room.clear()

    def resume_writing(self) -> None:
        self._has_room.set()
