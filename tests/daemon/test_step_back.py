"""The thread that decides lets others go first, on top of what the daemon as a whole was told."""

from __future__ import annotations

import os
import threading

import pytest

from vcsched.daemon.scheduling import NICENESS, step_back


def _stepped_back(before: int) -> int:
    """The niceness of a thread that had `before` more than this one, less this one's."""
    found: list[int] = []
    own = os.nice(0)

    def run() -> None:
        thread = threading.get_native_id()
        os.setpriority(os.PRIO_PROCESS, thread, own + before)
        step_back()
        found.append(os.getpriority(os.PRIO_PROCESS, thread) - own)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def test_a_daemon_that_is_told_to_be_nice_steps_back_from_there() -> None:
    most = 19 - os.nice(0)
    assert [_stepped_back(before) for before in (0, 7)] == [min(NICENESS, most), min(7 + NICENESS, most)]


def test_where_priorities_may_not_be_changed_the_daemon_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "setpriority", refuse)
    step_back()
