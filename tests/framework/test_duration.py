"""Durations as Go writes them."""

import pytest

from vcsched.framework.duration import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0.0),
        ("300ms", 0.3),
        ("1m30s", 90.0),
        ("1h", 3600.0),
        ("1.5h", 5400.0),
        (".5s", 0.5),
        ("1.s", 1.0),
        ("-2s", -2.0),
        ("+3us", 3e-6),
        ("3µs", 3e-6),
        ("1h2m3s4ms", 3723.004),
    ],
)
def test_a_duration_has_a_number_and_a_unit_for_each_part(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "1h1", "s", ".s", "1 s", "1d", "1e3s", "10000000h", "--1s"])
def test_anything_else_is_an_error_that_quotes_the_text(text: str) -> None:
    with pytest.raises(ValueError, match=f'^"{text}" is '):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (60, "1m0s"),
        (3600, "1h0m0s"),
        (1.5, "1.5s"),
        (0.3, "300ms"),
        (0.0000015, "1.5µs"),
        (90.25, "1m30.25s"),
        (-2, "-2s"),
        (5e-9, "5ns"),
    ],
)
def test_a_duration_is_shown_as_go_shows_it(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text
    assert parse_duration(text) == pytest.approx(seconds)
