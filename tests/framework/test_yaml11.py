"""Plain scalars mean what they mean to the reference, and places are kept."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.framework.yaml11 import YamlError, compose, pairs, place, scalar, value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("010", 8),
        ("08", 8.0),
        ("0x10", 16),
        ("0o17", 15),
        ("-0b11", -3),
        ("1_000", 1000),
        ("1e3", 1000.0),
        ("+7", 7),
        (".5", 0.5),
        ("10:00", "10:00"),
        ("1.2.3", "1.2.3"),
        ("-", "-"),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", float(2**64)),
        ("-.inf", float("-inf")),
        ("y", True),
        ("N", False),
        ("on", True),
        ("Off", False),
        ("yes", True),
        ("tRUE", "tRUE"),
        ("~", None),
        ("", None),
        ("2026-01-02", date(2026, 1, 2)),
        ("2026-13-02", "2026-13-02"),
        ("2026-01-02T10:00:00.5Z", datetime(2026, 1, 2, 10, 0, 0, 500_000, UTC)),
        ("2026-01-02 10:00:00", datetime(2026, 1, 2, 10, 0, tzinfo=UTC)),
    ],
)
def test_a_plain_scalar_is_read_as_the_reference_reads_it(text: str, value: Any) -> None:
    got = scalar(text)
    assert (type(got), got) == (type(value), value)


def load(text: str) -> Any:
    node = compose(text)
    return None if node is None else value_of(node)


def test_quoted_scalars_are_text_and_tags_are_obeyed() -> None:
    assert load("{a: 'yes', b: \"1\", c: !!str 5, d: !!float 5}") == {
        "a": "yes",
        "b": "1",
        "c": "5",
        "d": 5.0,
    }


def test_the_last_of_equal_keys_wins_and_merged_keys_give_way() -> None:
    assert load("base: &b {x: 1, y2: 2}\nmap: {x: 5, <<: *b, x: 6}") == {
        "base": {"x": 1, "y2": 2},
        "map": {"x": 6, "y2": 2},
    }


def test_only_the_first_document_counts() -> None:
    assert load("a: 1\n---\nb: 2\n") == {"a": 1}
    assert load("# nothing\n") is None


def test_nodes_know_their_line_and_column() -> None:
    node = compose("a: 1\nb:\n  - c\n")
    assert node is not None
    assert [place(value) for _, value in pairs(node)] == [(1, 4), (3, 3)]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: 1\nb: [", 2, 5),
        ("a: b: c", 1, 5),
        ("a: 1\nb: \x01", 2, 4),
        ("a: !!int x", 1, 4),
        ("a: 1\n? [x]\n: 2", 2, 3),
        ("a: &a [*a]", 1, 4),
        ("x: &x {<<: *x}", 1, 4),
        ("a: {<<: 5}", 1, 9),
        ("[" * 3000, 1, 1),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(YamlError) as caught:
        load(text)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_aliases_of_aliases_cost_what_they_take_to_write() -> None:
    text = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 60))
    assert len(load(text)) == 60


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    try:
        load(text)
    except YamlError as error:
        place_of_error = (error.line, error.column)
    else:
        return
    assert min(place_of_error) >= 1
