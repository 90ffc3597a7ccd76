"""The scheduling thread's parts know of the end of the I/O process, however early it comes."""

from __future__ import annotations

import errno
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from vcsched.daemon import scheduling
from vcsched.daemon.featuregates import FeatureGates
from vcsched.daemon.flags import parse_options
from vcsched.daemon.questions import Questions
from vcsched.daemon.reload import DirectoryWatch
from vcsched.kube.link import Link


def test_an_io_process_that_ends_while_the_parts_are_made_leaves_the_daemon_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stillborn:
        def __init__(self, settings: object, on_lost: Callable[[str], None], *, module: str) -> None:
            self.link = Link()
            on_lost("the I/O process has ended, with exit code 1")

    configuration = tmp_path / "scheduler.conf"
    configuration.write_text('actions: "allocate"\n')
    monkeypatch.setattr(scheduling, "IOProcess", Stillborn)
    monkeypatch.setattr(scheduling.threading, "Timer", _NoTimer)

    options, _ = parse_options([f"--scheduler-conf={configuration}", "--leader-elect=false"])
    made = scheduling.SchedulingThread(options)

    assert made.lacking() == ["the I/O process has ended, with exit code 1"]


def test_a_configuration_that_cannot_be_watched_ends_the_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Idle:
        def __init__(self, settings: object, on_lost: object, *, module: str) -> None:
            self.link = Link()

        def stop(self, drain_s: float) -> bool:
            return True

    def refuse(_: object) -> None:
        raise OSError(errno.EMFILE, "inotify instance limit reached")

    configuration = tmp_path / "scheduler.conf"
    configuration.write_text('actions: "allocate"\n')
    monkeypatch.setattr(scheduling, "IOProcess", Idle)
    monkeypatch.setattr(DirectoryWatch, "start", refuse)
    options, _ = parse_options([f"--scheduler-conf={configuration}"])
    made = scheduling.SchedulingThread(options)

    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(made.run, FeatureGates({}, 36), Questions({}), lambda: None).result() == 255

    assert "inotify instance limit reached" in caplog.text


@pytest.mark.parametrize(
    ("leader_elect", "lacking"),
    [
        pytest.param("true", [], id="a standby is ready to take over"),
        pytest.param("false", ["the first lists are not begun"], id="who decides alone is not"),
    ],
)
def test_before_its_start_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, leader_elect: str, lacking: list[str]
) -> None:
    class Silent:
        def __init__(self, settings: object, on_lost: object, *, module: str) -> None:
            self.link = Link()

    configuration = tmp_path / "scheduler.conf"
    configuration.write_text('actions: "allocate"\n')
    monkeypatch.setattr(scheduling, "IOProcess", Silent)
    options, _ = parse_options([f"--scheduler-conf={configuration}", f"--leader-elect={leader_elect}"])

    assert scheduling.SchedulingThread(options).lacking() == lacking


class _NoTimer:
    """In place of the timer that ends a process which does not end by itself."""

    daemon = False

    def __init__(self, *_: Any) -> None: ...

    def start(self) -> None: ...
