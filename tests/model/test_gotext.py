"""Booleans, integers and durations as users of Kubernetes write them (spec 01 §2.5, §3.2)."""

from __future__ import annotations

import pytest

from vcsched.model.gotext import parse_bool, parse_duration, parse_int


def test_booleans_have_six_spellings_each() -> None:
    assert [parse_bool(text) for text in ("1", "t", "T", "TRUE", "true", "True")] == [True] * 6
    assert [parse_bool(text) for text in ("0", "f", "F", "FALSE", "false", "False")] == [False] * 6
    assert [parse_bool(text) for text in ("", "yes", "tRUE", " true", "2")] == [None] * 5


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("+7", 7), ("-7", -7), ("007", 7), ("2147483647", 2**31 - 1), ("-2147483648", -(2**31))],
)
def test_integers_are_decimal_with_a_sign(text: str, number: int) -> None:
    assert parse_int(text, 32) == number


@pytest.mark.parametrize("text", ["", "+", "1.0", "0x1", "1_000", " 1", "1e3", "2147483648", "-2147483649", "9" * 5000])
def test_other_texts_are_no_integers(text: str) -> None:
    assert parse_int(text, 32) is None


def test_integers_have_64_bits_unless_told() -> None:
    assert parse_int(str(2**63 - 1)) == 2**63 - 1
    assert parse_int(str(2**63)) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1h2m3s", 3723),
        ("300ms", 0.3),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("1.s", 1),
        ("-1m", -60),
        ("+1m", 60),
        ("10us", 1e-5),
        ("10µs", 1e-5),
        ("10μs", 1e-5),
        ("7ns", 7e-9),
        ("1m1m", 120),
        ("0", 0),
        ("0s", 0),
    ],
)
def test_durations_add_up_their_parts(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "1d", "s", ".s", "1h 2m", "1H", "--1s", "1e3s", "1000000h1000000h1000000h"])
def test_other_texts_are_no_durations(text: str) -> None:
    assert parse_duration(text) is None
