"""Signals, tried on a process of its own (spec 02 §2 no. 7, W36)."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

PROGRAM = """
import asyncio
from vcsched.daemon import signals

signals.ignore_dumps()

async def main():
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    signals.on_end(loop, lambda: (print("ending", flush=True), ONCE and stop.set()))
    print("started", flush=True)
    if DUMPS:
        signals.on_dump(loop, lambda: print("file", flush=True), lambda: print("log", flush=True))
    print("ready", flush=True)
    await stop.wait()

asyncio.run(main())
print("drained", flush=True)
"""


class Child:
    def __init__(self, *, once: bool = True, dumps: bool = True) -> None:
        text = PROGRAM.replace("ONCE", str(once)).replace("DUMPS", str(dumps))
        self.process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, text=True)
        self.expect("started", "ready")

    def expect(self, *lines: str) -> None:
        assert self.process.stdout is not None
        for line in lines:
            assert self.process.stdout.readline().strip() == line

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def status(self) -> int:
        return self.process.wait(timeout=60)


@pytest.fixture
def children() -> Iterator[list[Child]]:
    children: list[Child] = []
    yield children
    for child in children:
        child.process.kill()
        child.process.wait()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_ends_in_good_order(children: list[Child], number: signal.Signals) -> None:
    child = Child()
    children.append(child)
    child.send(number)
    child.expect("ending", "drained")
    assert child.status() == 0


def test_the_second_signal_does_not_wait(children: list[Child]) -> None:
    child = Child(once=False)
    children.append(child)
    child.send(signal.SIGTERM)
    child.expect("ending")
    child.send(signal.SIGINT)
    assert child.status() == 1


def test_dump_signals_ask_for_their_dump(children: list[Child]) -> None:
    child = Child()
    children.append(child)
    child.send(signal.SIGUSR1)
    child.expect("file")
    child.send(signal.SIGUSR2)
    child.expect("log")


def test_dump_signals_do_not_kill_before_the_dumper_is_ready(children: list[Child]) -> None:
    child = Child(dumps=False)
    children.append(child)
    child.send(signal.SIGUSR1)
    child.send(signal.SIGUSR2)
    child.send(signal.SIGTERM)
    child.expect("ending", "drained")
    assert child.status() == 0
