"""Arguments: typed reading that warns and never stops (spec 03 §5)."""

from __future__ import annotations

import logging
from typing import Any

import msgspec
import pytest

from vcsched.framework.arguments import Arguments


class Point(msgspec.Struct):
    utilization: int
    score: float = 0.5


def read(value: Any, kind: str, default: Any) -> tuple[Any, list[str]]:
    warnings: list[str] = []
    arguments = Arguments({"key": value}, "plugin p", lambda _, sentence: warnings.append(sentence))
    return getattr(arguments, kind)("key", default), warnings


@pytest.mark.parametrize(
    ("kind", "value", "result"),
    [
        ("int", 5, 5),
        ("int", -1, -1),
        ("float", 1.5, 1.5),
        ("float", 2, 2.0),
        ("bool", True, True),
        ("bool", "T", True),
        ("bool", "0", False),
        ("str", "x", "x"),
        ("str", "", ""),
    ],
)
def test_a_value_of_the_right_type_is_taken_without_a_word(kind: str, value: Any, result: Any) -> None:
    default = {"int": 9, "float": 9.0, "bool": False, "str": "default"}[kind]
    got, warnings = read(value, kind, default)
    assert (got, type(got), warnings) == (result, type(result), [])


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("int", "15"),
        ("int", 15.0),
        ("int", True),
        ("int", None),
        ("int", 2**63),
        ("float", "1.5"),
        ("float", True),
        ("float", ""),
        ("bool", 1),
        ("bool", "yes"),
        ("bool", None),
        ("str", 5),
        ("str", None),
    ],
)
def test_a_value_of_another_type_gives_the_default_and_one_warning(kind: str, value: Any) -> None:
    default = {"int": 9, "float": 9.0, "bool": True, "str": "default"}[kind]
    got, warnings = read(value, kind, default)
    assert got == default
    assert len(warnings) == 1
    for part in ("plugin p", "key", repr(value), repr(default)):
        assert part in warnings[0]


def test_an_absent_key_gives_the_default_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    arguments = Arguments(None, "plugin p")
    assert arguments.int("a", 1) == 1
    assert arguments.str("b") == ""
    assert arguments.typed("c", list[int], [7]) == [7]
    assert not caplog.records


def test_warnings_go_to_the_log_unless_somebody_collects_them(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        Arguments({"weight": "5"}, "plugin binpack").int("weight", 1)
    assert caplog.messages == ["plugin binpack: argument weight is '5', not an integer; the default 1 is used"]


@pytest.mark.parametrize(
    ("shape", "value", "result"),
    [
        (int, 3.9, 3),
        (float, 3, 3.0),
        (list[str], ["a", "b"], ["a", "b"]),
        (list[int], [1, 2.7], [1, 2]),
        (dict[str, float], {"cpu": 80, "mem": 7.5}, {"cpu": 80.0, "mem": 7.5}),
        (list[Point], [{"Utilization": 40.0, "SCORE": 8}, {"utilization": 1}], [Point(40, 8.0), Point(1)]),
    ],
)
def test_structures_are_converted_part_by_part(shape: Any, value: Any, result: Any) -> None:
    got, warnings = read_typed(value, shape, None)
    assert (got, warnings) == (result, [])


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (int, "3"),
        (list[str], "a,b"),
        (list[str], ["a", 5]),
        (dict[str, float], {"cpu": "80"}),
        (list[Point], [{"score": 1}]),
        (int, float("nan")),
    ],
)
def test_a_structure_with_a_wrong_part_gives_the_default_and_a_warning(shape: Any, value: Any) -> None:
    got, warnings = read_typed(value, shape, "the default")
    assert got == "the default"
    assert len(warnings) == 1


def read_typed(value: Any, shape: Any, default: Any) -> tuple[Any, list[str]]:
    warnings: list[str] = []
    arguments = Arguments({"key": value}, "plugin p", lambda _, sentence: warnings.append(sentence))
    return arguments.typed("key", shape, default), warnings


def test_keys_that_nobody_read_are_known() -> None:
    arguments = Arguments({"a": 1, "misspelt": 2, "c": 3})
    arguments.int("a", 0)
    assert "c" in arguments
    assert arguments.unasked() == ("misspelt",)
    assert arguments.asked() == ("a", "c")


def test_comparing_arguments_reads_none_of_them() -> None:
    arguments = Arguments({"a": 1})
    assert arguments == Arguments({"a": 1}, "somebody else")
    assert arguments != Arguments({"a": 2})
    assert arguments.unasked() == ("a",)
