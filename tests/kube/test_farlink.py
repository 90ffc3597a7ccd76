"""The session side's end of the link between two processes."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest

from vcsched.kube import farlink
from vcsched.kube.frames import pack_inbound
from vcsched.kube.link import Deleted
from vcsched.kube.objects import Pod


def test_a_drain_takes_in_what_a_full_socket_has_kept_behind_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(farlink, "_GO_ON_S", 60.0)  # a loaded machine may take its time
    monkeypatch.setattr(farlink, "_GAP_MS", 60_000.0)
    near, far = socket.socketpair()
    end = farlink.SessionEnd(near)
    data = pack_inbound([Deleted(Pod, f"ns/pod-{number}", "u" * 36) for number in range(100_000)])
    far.setblocking(False)
    sent = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            sent += far.send(data[sent : sent + 4096])
    assert sent < len(data) / 2, "the socket holds more than this test has to say"
    far.setblocking(True)

    def say_the_rest_and_leave() -> None:
        far.sendall(data[sent:])
        far.close()

    rest = threading.Thread(target=say_the_rest_and_leave, daemon=True)
    rest.start()

    taken = end.drain()

    assert len(taken) == 100_000
    rest.join(60.0)
    end.close()
