"""Texts in annotations, labels and selectors, read by the rules that users of Kubernetes know from Go.

Each function gives None for what cannot be read; what that means, and whether anybody is told, is the
caller's business. Spec 01 §2.5, §3.2.
"""

from __future__ import annotations

import re
from fractions import Fraction

_BOOL = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)
_INT = re.compile(r"[+-]?[0-9]{1,400}", re.ASCII)
_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,  # micro sign
    "μs": 10**3,  # Greek mu
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_DURATION = re.compile(r"([+-]?)((?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+|0)")
_PART = re.compile(r"([0-9.]+)([a-zµμ]+)")
_LONGEST_TEXT = 200


def parse_bool(text: str) -> bool | None:
    """True and False as Go writes them: `1 t T TRUE true True` and their opposites."""
    return _BOOL.get(text)


def parse_int(text: str, bits: int = 64) -> int | None:
    """A decimal integer with an optional sign that fits in so many bits."""
    if not _INT.fullmatch(text):
        return None
    number = int(text)
    return number if -(1 << bits - 1) <= number < 1 << bits - 1 else None


def parse_duration(text: str) -> float | None:
    """Seconds of a duration such as `1h2m3s`, `300ms` or `-1.5h`; without a unit only `0` can be read."""
    found = _DURATION.fullmatch(text) if len(text) <= _LONGEST_TEXT else None
    if found is None:
        return None
    nanoseconds = sum(
        int(Fraction(number.rstrip(".")) * _NANOSECONDS[unit]) for number, unit in _PART.findall(found[2])
    )
    if nanoseconds >= 2**63:
        return None
    return (-nanoseconds if found[1] == "-" else nanoseconds) / 1e9
