"""The I/O side in a process of its own, as seen from the daemon: the methods of `io.IO`, and a link.

Two Python threads share one interpreter: while a session computes, binds would leave at a fifth of their
speed, and every heartbeat of 5,000 nodes would take its microseconds from the decisions. In a process of its
own the I/O side binds at full speed beside a session that runs, and decodes and drops on another core.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

from vcsched.kube.errors import ApiError
from vcsched.kube.farlink import SessionEnd
from vcsched.kube.objects import Object
from vcsched.kube.settings import LOST, IOSettings, Stats

_LOOK_S = 0.05  # how often a wait looks whether it is stopped
_ANSWER_S = 10.0  # for what is answered at once
_END_S = 15.0  # from the end of the writes to the end of the process


class IOProcess:
    """An I/O side elsewhere, and `link`, the session side of the link to it.

    `module` is run as the process and ends in `ioserver.main`. `on_lost(why)` is called in a thread of this
    class, once, when the lease is lost or the process has ended by itself.
    """

    def __init__(
        self,
        settings: IOSettings,
        on_lost: Callable[[str], None] | None = None,
        *,
        module: str = "vcsched.kube.ioserver",
    ) -> None:
        self._settings = settings
        self._on_lost = on_lost
        self._numbers = count(LOST + 1)
        self._asked: dict[int, Future[Any]] = {}
        self._asking = threading.Lock()
        self._ends = False
        data, far_data = socket.socketpair()
        control, far_control = socket.socketpair()
        with far_data, far_control:
            far = far_control.fileno(), far_data.fileno()
            command = [sys.executable, "-m", module, *map(str, far)]
            self._process = subprocess.Popen(command, pass_fds=far, stdin=subprocess.DEVNULL, process_group=0)
        self.link = SessionEnd(data)
        self._control = Connection(control.detach())
        self._listener = threading.Thread(target=self._listen, name="io calls", daemon=True)
        self._listener.start()

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> str:
        """Log in and meet the server; returns its version. Raises `LoginError`, `ApiError`."""
        version: str = self._ask("start", self._settings).result()
        return version

    def ensure_queue(self, name: str, reclaimable: bool, stopped: threading.Event) -> bool:
        """Make a queue unless it is there; False if stopped first. Raises `ApiError` after a minute."""
        return self._wait(self._ask("ensure_queue", name, reclaimable), stopped)

    def missing_rights(self, kinds: Iterable[type[Object]]) -> list[str]:
        """Rights that our role lacks, as texts for the log."""
        lacking: list[str] = self._ask("missing_rights", tuple(kinds)).result()
        return lacking

    def elect(self, stopped: threading.Event) -> bool:
        """Wait until we lead; False if stopped first. At once True without leader election."""
        return self._wait(self._ask("elect"), stopped)

    def follow(self, kinds: Iterable[type[Object]]) -> None:
        """Begin to watch these kinds, and to write."""
        self._ask("follow", tuple(kinds)).result()

    def lagging(self) -> dict[str, str]:
        """Kinds whose first list has not arrived, with the reason (spec 02 W9)."""
        try:
            reasons: dict[str, str] = self._ask("lagging").result(_ANSWER_S)
        except TimeoutError:
            return {"all kinds": f"the I/O process has not answered for {_ANSWER_S:.0f} s"}
        return reasons

    def stats(self) -> Stats:
        """Figures of the I/O side."""
        figures: Stats = self._ask("stats").result(_ANSWER_S)
        return figures

    def set_log_level(self, level: int) -> None:
        """The level of the process's root logger."""
        self._ask("set_log_level", level)  # nobody waits for the answer

    def stop(self, drain_timeout_s: float = 10.0) -> bool:
        """Finish what was sent, give the lease back, end the process; False if writes had to be given up."""
        if self._ends:
            return True
        self._ends = True
        try:
            done: bool = self._ask("stop", drain_timeout_s, self.link.sent).result(drain_timeout_s + _END_S)
            self._process.wait(_END_S)
        except (ApiError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
            return False
        finally:
            self.link.close()
            self._listener.join()
            self._control.close()
        return done

    # ---------------------------------------------------------------- calls

    def _ask(self, method: str, *arguments: Any) -> Future[Any]:
        answer: Future[Any] = Future()
        with self._asking:
            number = next(self._numbers)
            self._asked[number] = answer
            try:
                self._control.send((number, method, arguments))
            except OSError:
                del self._asked[number]
                answer.set_exception(self._gone())
        return answer

    def _interrupt(self) -> None:
        with self._asking, contextlib.suppress(OSError):
            self._control.send((next(self._numbers), "interrupt", ()))

    def _wait(self, answer: Future[bool], stopped: threading.Event) -> bool:
        while not answer.done():
            if stopped.wait(_LOOK_S):
                self._interrupt()
                return False
        return answer.result()

    def _listen(self) -> None:
        while True:
            try:
                number, error, value = self._control.recv()
            except (EOFError, OSError):
                break
            if number == LOST:
                self._lose("leaderelection lost")
                continue
            answer = self._asked.pop(number)
            if error is None:
                answer.set_result(value)
            else:
                answer.set_exception(error)
        with self._asking:
            for answer in self._asked.values():
                answer.set_exception(self._gone())
            self._asked.clear()
        if not self._ends:
            self._lose(str(self._gone()))

    def _lose(self, why: str) -> None:
        on_lost, self._on_lost = self._on_lost, None
        if on_lost is not None:
            on_lost(why)

    def _gone(self) -> ApiError:
        try:
            how = f"with exit code {self._process.wait(1.0)}"
        except subprocess.TimeoutExpired:
            how = "its sockets only"
        return ApiError(0, "", f"the I/O process has ended, {how}", sent=False)
