"""Kubernetes quantities and durations, read exactly (spec 01 §1.2)."""

from __future__ import annotations

import math
import re
from fractions import Fraction

_SUFFIX = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    **{letter: Fraction(10 ** (3 * power)) for power, letter in enumerate("MGTPE", start=2)},
    **{letter + "i": Fraction(1024**power) for power, letter in enumerate("KMGTPE", start=1)},
}
_QUANTITY = re.compile(r"^([+-]?)(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE])?)$")
_DURATION = re.compile(r"^([+-]?)((?:\d+(?:\.\d*)?(?:ns|us|µs|ms|s|m|h))+)$")
_DURATION_PART = re.compile(r"(\d+(?:\.\d*)?)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}


def quantity(text: object) -> Fraction:
    """The exact value of a quantity; ValueError if it is none."""
    match = _QUANTITY.match(str(text))
    if not match:
        raise ValueError(f"not a quantity: {text!r}")
    sign, number, exponent, suffix = match.groups()
    value = Fraction(number.rstrip(".")) if number.endswith(".") else Fraction(number)
    value *= Fraction(10) ** int(exponent[1:]) if exponent else _SUFFIX[suffix or ""]
    return -value if sign == "-" else value


def away_from_zero(value: Fraction | float) -> float:
    """Rounded to a whole number, away from zero."""
    return float(math.ceil(value) if value >= 0 else math.floor(value))


def milli(text: object) -> float:
    """The milli value of a quantity."""
    return away_from_zero(quantity(text) * 1000)


def whole(text: object) -> float:
    """The whole value of a quantity."""
    return away_from_zero(quantity(text))


def duration(text: object) -> float | None:
    """A duration like `1h30m` in seconds; None if it is none."""
    match = _DURATION.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(match.group(2)))
    return -seconds if match.group(1) == "-" else seconds


def integer(text: object) -> int | None:
    """A decimal integer with an optional sign; None if it is none."""
    return int(text) if isinstance(text, str) and re.match(r"^[+-]?\d+$", text) else None


def boolean(text: object) -> bool | None:
    """A boolean as Go's ParseBool reads it; None if it is none."""
    if text in ("1", "t", "T", "TRUE", "true", "True"):
        return True
    if text in ("0", "f", "F", "FALSE", "false", "False"):
        return False
    return None
