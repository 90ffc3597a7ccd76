"""The hours of a zone (spec 05 §15, §20.7, design-notes §7 row 25)."""

from __future__ import annotations

import time

import pytest

from vcsched.plugins.tdm.window import Window, WindowError, parse_window


def at(clock: str) -> float:
    """The unix time of a moment of one fixed day, in local time."""
    return time.mktime(time.strptime(f"2027-03-10 {clock}", "%Y-%m-%d %H:%M:%S"))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0:00-23:59", 86340), ("1:00-0:00", 82800), ("  1:00-0:00  ", 82800), ("23:59-23:59", 86400)],
)
def test_a_window_is_as_long_as_it_says(text: str, seconds: int) -> None:
    assert parse_window(text).length == seconds


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("00:00_01:00", "revocable zone 00:00_01:00 format error"),
        ("0:00", "revocable zone 0:00 format error"),
        ("1:00-2:00-3:00", "revocable zone 1:00-2:00-3:00 format error"),
        ("1:0-0:0", 'parsing time "1:0": write it like 9:00 or 22:30'),
        ("63:59-23:59", 'parsing time "63:59": write it like 9:00 or 22:30'),
        ("1:00 - 2:00", 'parsing time "1:00 ": write it like 9:00 or 22:30'),
    ],
)
def test_what_is_no_window_is_said_so(text: str, message: str) -> None:
    with pytest.raises(WindowError) as caught:
        parse_window(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("window", "clock", "is_open"),
    [
        ("9:00-17:00", "08:59:59", False),
        ("9:00-17:00", "09:00:00", True),
        ("9:00-17:00", "17:00:00", True),
        ("9:00-17:00", "17:00:01", False),
        ("22:00-6:00", "21:59:59", False),
        ("22:00-6:00", "23:00:00", True),
        ("22:00-6:00", "03:00:00", True),
        ("22:00-6:00", "06:00:01", False),
        ("0:00-0:00", "12:34:56", True),
    ],
)
def test_a_window_is_open_from_its_start_to_its_end_also_over_midnight(window: str, clock: str, is_open: bool) -> None:
    assert parse_window(window).is_open(at(clock)) == is_open


@pytest.mark.parametrize("text", ["9:00-17:00", "22:00-6:00"])
def test_nothing_changes_before_the_next_change_and_something_then(text: str) -> None:
    window: Window = parse_window(text)
    now = at("05:30:00")
    for _ in range(4):
        change = window.next_change(now)
        assert window.is_open(change - 1) == window.is_open(now)
        assert window.is_open(change) != window.is_open(now)
        now = change
