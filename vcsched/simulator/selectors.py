"""Label and field selectors as they stand in a query string, turned into a test on objects.

Field selectors accept any path; the real server knows a few per kind. A field that is absent counts as "".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from vcsched.simulator.errors import ApiError

Obj = dict[str, Any]
Test = Callable[[Obj], bool]

_SET = re.compile(r"^\s*(\S+)\s+(in|notin)\s*\(([^)]*)\)\s*$")
_SPLIT = re.compile(r",(?![^(]*\))")


def selector(labels: str, fields: str) -> Test | None:
    """The test for both selectors, or None if every object passes. ApiError 400 if one cannot be read."""
    tests = [_label_test(part) for part in _SPLIT.split(labels) if part.strip()]
    tests += [_field_test(part) for part in fields.split(",") if part.strip()]
    if not tests:
        return None
    if len(tests) == 1:
        return tests[0]
    return lambda obj: all(test(obj) for test in tests)


def matches(selector: Obj | None, labels: dict[str, str]) -> bool:
    """Whether a `LabelSelector` object selects these labels; None selects nothing, {} everything."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in selector.get("matchLabels", {}).items()):
        return False
    return all(
        _holds(labels, rule["key"], rule["operator"].lower(), set(rule.get("values", ())))
        for rule in selector.get("matchExpressions", ())
    )


def _label_test(text: str) -> Test:
    key, operator, values = _parse(text)
    return lambda obj: _holds(obj["metadata"].get("labels") or {}, key, operator, values)


def _parse(text: str) -> tuple[str, str, set[str]]:
    if found := _SET.match(text):
        key, operator, values = found.groups()
        return key, operator, {value.strip() for value in values.split(",")}
    text = text.strip()
    for sign, operator in (("!=", "notin"), ("==", "in"), ("=", "in")):
        key, hit, value = text.partition(sign)
        if hit:
            return key.strip(), operator, {value.strip()}
    if text.startswith("!"):
        return text[1:].strip(), "doesnotexist", set()
    if re.fullmatch(r"[\w./-]+", text):
        return text, "exists", set()
    raise ApiError(400, f"unable to parse requirement: {text!r} is no label selector")


def _holds(labels: dict[str, str], key: str, operator: str, values: set[str]) -> bool:
    if operator == "in":
        return labels.get(key) in values
    if operator == "notin":
        return labels.get(key) not in values
    return (key in labels) == (operator == "exists")


def _field_test(text: str) -> Test:
    for sign, wanted in (("!=", False), ("==", True), ("=", True)):
        path, hit, value = text.partition(sign)
        if hit:
            steps = path.strip().split(".")
            value = value.strip()
            return lambda obj: (_field(obj, steps) == value) == wanted
    raise ApiError(400, f"invalid field selector: {text!r}; use PATH=VALUE or PATH!=VALUE")


def _field(obj: Obj, steps: list[str]) -> str:
    value: Any = obj
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)
