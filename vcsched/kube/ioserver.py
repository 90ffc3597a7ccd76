"""The I/O side as a process: `kube.io` behind two sockets. Started by `ioprocess`, which is its only caller.

Over the control socket come calls as `(number, method, arguments)`, answered by `(number, error, value)`; the
number 0 is said unasked: the lease is lost. `interrupt` ends the calls that wait and has no answer. When the
daemon is gone, however it ended, the fence goes up at once and the process ends: nobody would know what it
writes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from typing import Any

from vcsched.kube.errors import ApiError, LoginError
from vcsched.kube.farlink import IOEnd
from vcsched.kube.io import IO
from vcsched.kube.settings import LOST, IOSettings

log = logging.getLogger(__name__)

_OWN = ("set_log_level", "start", "stop")  # calls that are answered here; the others are methods of `io.IO`
_WAITING = ("elect", "ensure_queue")  # calls that `interrupt` ends
_RECEIVE_S = 5.0  # how long the last messages of the session side may be under way


class Server:
    """The I/O side that answers calls."""

    def __init__(self, control: Connection, data: socket.socket) -> None:
        self._control = control
        self._link = IOEnd(data)
        self._io: IO | None = None
        self._interrupted = threading.Event()
        self._saying = threading.Lock()

    def run(self) -> None:
        """Answer until told to stop, or until the daemon is gone."""
        with ThreadPoolExecutor(thread_name_prefix="calls") as calls:
            while True:
                try:
                    number, method, arguments = self._control.recv()
                except (EOFError, OSError):
                    if self._io is not None:
                        self._io.fence("the daemon is gone")
                    os._exit(1)
                if method == "stop":
                    self._answer(number, method, arguments)
                    return
                if method == "interrupt":
                    self._interrupted.set()
                    self._interrupted = threading.Event()
                    continue
                if method in _WAITING:
                    arguments = (*arguments, self._interrupted)
                calls.submit(self._answer, number, method, arguments)

    def _answer(self, number: int, method: str, arguments: tuple[Any, ...]) -> None:
        try:
            whose = self if method in _OWN else self.io
            self._say(number, None, getattr(whose, method)(*arguments))
        except (ApiError, LoginError) as error:
            self._say(number, error, None)
        except Exception as error:
            log.exception("the I/O process could not %s", method)
            self._say(number, ApiError(0, "", f"the I/O process could not {method}: {error!r}"), None)

    def _say(self, number: int, error: Exception | None, value: Any) -> None:
        with self._saying, contextlib.suppress(OSError):  # the daemon is gone, which `run` notices by itself
            self._control.send((number, error, value))

    # ---------------------------------------------------------------- what is called here

    def start(self, settings: IOSettings) -> str:
        """Log in and meet the server; its version. Raises `LoginError`, `ApiError`."""
        logging.getLogger().setLevel(settings.log_level)
        io = IO(self._link, settings, lambda: self._say(LOST, None, None))
        version = io.start()
        io.call(self._link.open())
        self._io = io
        return version

    @property
    def io(self) -> IO:
        if self._io is None:
            raise RuntimeError("the I/O side was not started")
        return self._io

    def set_log_level(self, level: int) -> None:
        logging.getLogger().setLevel(level)

    def stop(self, drain_timeout_s: float, sent: int) -> bool:
        """Finish the `sent` messages that the session side has sent; see `IO.stop`."""
        self._interrupted.set()
        if self._io is None:
            return True
        self._io.call(self._link.has_received(sent, _RECEIVE_S))
        return self._io.stop(drain_timeout_s)


def main() -> None:
    """The process; its arguments are the file descriptors of the control and the data socket."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):  # they are for the daemon
        signal.signal(number, signal.SIG_IGN)
    control, data = (int(argument) for argument in sys.argv[1:3])
    Server(Connection(control), socket.socket(fileno=data)).run()


if __name__ == "__main__":
    main()
