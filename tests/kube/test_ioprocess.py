"""The I/O process and the daemon live and die together, and neither waits for the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from vcsched.kube.errors import ApiError, LoginError
from vcsched.kube.ioprocess import IOProcess
from vcsched.kube.link import Bind, Question
from vcsched.kube.settings import IOSettings
from vcsched.simulator.cluster import ApiServer


def until(holds: object, timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not holds():  # type: ignore[operator]
        assert time.monotonic() < deadline, "this never came true"
        time.sleep(0.02)


def test_a_login_that_fails_and_a_server_that_is_not_there_are_said_as_from_a_thread() -> None:
    for settings, error in (
        (IOSettings("/nowhere/kubeconfig", "", ("volcano",)), LoginError),
        (IOSettings("", "http://127.0.0.1:9", ("volcano",)), ApiError),
    ):
        io = IOProcess(settings)
        with pytest.raises(error):
            io.start()
        assert io.stop()
        assert not psutil.pid_exists(io.pid)


def test_the_end_of_the_process_is_told_with_its_exit_code_and_every_call_fails_by_it() -> None:
    told: list[str] = []
    with ApiServer() as server:
        io = IOProcess(IOSettings("", server.url, ("volcano",)), told.append)
        io.start()
        os.kill(io.pid, signal.SIGKILL)
        until(lambda: told)
        assert told == ["the I/O process has ended, with exit code -9"]
        with pytest.raises(ApiError, match="exit code -9"):
            io.follow(())
        io.link.drain()
        assert not io.link.wait(0.01), "a wait goes on although the socket is closed"
        assert not io.stop()


def test_the_process_ends_when_the_daemon_is_killed() -> None:
    code = (
        "import sys, time\n"
        "from vcsched.kube.ioprocess import IOProcess\n"
        "from vcsched.kube.settings import IOSettings\n"
        "io = IOProcess(IOSettings('', sys.argv[1], ('volcano',)))\n"
        "io.start()\n"
        "print(io.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with ApiServer() as server:
        daemon = subprocess.Popen([sys.executable, "-c", code, server.url], stdout=subprocess.PIPE, text=True)
        assert daemon.stdout is not None
        with daemon, daemon.stdout:
            pid = int(daemon.stdout.readline())
            daemon.kill()
        until(lambda: _has_ended(pid))


def _has_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_question_ends_the_wait_and_a_process_that_is_stopped_does_not_hold_up_who_sends() -> None:
    with ApiServer() as server:
        io = IOProcess(IOSettings("", server.url, ("volcano",)))
        io.start()
        question = Question("dump", {}, lambda _: None)
        threading.Timer(0.05, io.link.put, (question,)).start()
        assert io.link.wait(60.0)
        assert io.link.drain() == [question]
        os.kill(io.pid, signal.SIGSTOP)
        try:
            batch = [Bind(no, "ns", f"p{no}", "u" * 36, "n" * 100) for no in range(1000)]
            for _ in range(50):  # far more than sockets hold
                io.link.send(batch)
            assert io.link.drain() == []
        finally:
            os.kill(io.pid, signal.SIGKILL)
        assert not io.stop()
