"""The log looks like klog's and follows -v."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Iterator

import pytest

from vcsched.daemon.klog import level_of, set_up

LINE = re.compile(r"^([IWEF])\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ test_klog\.py:\d+\] (.*)$")


@pytest.fixture(autouse=True)
def _root() -> Iterator[None]:
    """Give the root logger back as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)


def test_a_line_has_severity_time_process_file_and_message() -> None:
    stream = io.StringIO()
    set_up(0, stream)
    log = logging.getLogger("vcsched.test")
    log.info("value %d", 5)
    log.warning("careful")
    log.error("bad")
    log.critical("worst")
    lines = [LINE.match(line) for line in stream.getvalue().splitlines()]
    assert [line and line.groups() for line in lines] == [
        ("I", "value 5"),
        ("W", "careful"),
        ("E", "bad"),
        ("F", "worst"),
    ]


def test_a_traceback_follows_its_line() -> None:
    stream = io.StringIO()
    set_up(0, stream)
    try:
        raise ValueError("why")
    except ValueError:
        logging.getLogger("vcsched.test").exception("it failed")
    first, *rest = stream.getvalue().splitlines()
    assert LINE.match(first)
    assert rest[0].startswith("Traceback")
    assert rest[-1] == "ValueError: why"


def test_verbosity_shows_what_is_at_most_so_verbose() -> None:
    stream = io.StringIO()
    verbosity = set_up(3, stream)
    log = logging.getLogger("vcsched.test")

    def shown() -> list[str]:
        stream.seek(0)
        stream.truncate()
        for number in range(7):
            log.log(logging.INFO - number, "%d", number)
        return [line.split()[-1] for line in stream.getvalue().splitlines()]

    assert shown() == ["0", "1", "2", "3"]
    verbosity.set(5)
    assert shown() == ["0", "1", "2", "3", "4", "5"]
    verbosity.set(verbosity.start)
    assert shown() == ["0", "1", "2", "3"]


def test_verbosity_ends_at_10() -> None:
    assert level_of(0) == logging.INFO
    assert level_of(10) == level_of(99) == logging.DEBUG
    assert level_of(-1) == logging.INFO
