"""Quantities: the numbers of Kubernetes (`500m`, `2Gi`, `1e3`), read exactly and written back.

The scheduler counts in two units, thousandths (`milli`) and whole things (`whole`); both round away
from zero, so that asking for a little never becomes asking for nothing. Reading is exact at any size
and saturates at 64 bits. Which unit a resource is counted in is no business of this file (see
`resources`). Spec 01 §1.2, §1.6.
"""

from __future__ import annotations

import re
import sys
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from vcsched.kube.objects import Quantity

MAX_INT = 2**63 - 1
MIN_INT = -(2**63)
UNLIMITED = sys.float_info.max
"""The amount that stands for "no limit"."""

MOST = 2.0**50
"""The largest amount that is charged to anything: in bytes a pebibyte. Floats count exactly to eight times that."""

_GRAMMAR = re.compile(
    r"(?P<sign>[+-]?)(?P<digits>\d+\.?\d*|\.\d+)(?:(?P<binary>[KMGTPE]i)|(?P<decimal>[numkMGTPE])|[eE](?P<power>[+-]?\d+))?",
    re.ASCII,
)
_LONGEST = 1000
"""Longer texts are refused: no amount needs them, and big-number arithmetic has a price."""
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_POWER_NAME = {power: name for name, power in _DECIMAL.items()} | {0: ""}
_BINARY_NAME = ("", *_BINARY)


class QuantityError(ValueError):
    """A text that is no quantity; the message names the text and what would be accepted."""


class Unit(Enum):
    """What the number one stands for when an amount is written as text."""

    MILLI = "milli"  # thousandths: cpu, devices
    COUNT = "count"  # whole things, powers of 1000: pods, ephemeral storage
    BYTES = "bytes"  # whole bytes, powers of 1024: memory


def milli(quantity: Quantity) -> int:
    """Thousandths of a quantity, rounded away from zero, within 64 bits. Raises `QuantityError`."""
    return _milli(quantity if isinstance(quantity, str) else _text(quantity))


def whole(quantity: Quantity) -> int:
    """A quantity as an integer, rounded away from zero, within 64 bits. Raises `QuantityError`."""
    return _whole(quantity if isinstance(quantity, str) else _text(quantity))


def exact(quantity: Quantity) -> Fraction:
    """A quantity as it is written, neither rounded nor bounded. Raises `QuantityError`."""
    return _exact(quantity if isinstance(quantity, str) else _text(quantity))


def render(amount: float, unit: Unit) -> str:
    """An amount as canonical quantity text (`1500m`, `4`, `2Gi`); a fraction is cut towards zero."""
    number = _clamp(int(max(MIN_INT, min(MAX_INT, amount))))
    if unit is Unit.MILLI:
        return _decimal_text(number, -3)
    if unit is Unit.BYTES and abs(number) >= 1024:
        return _binary_text(number)
    return _decimal_text(number, 0)


def human(amount: float, unit: Unit) -> str:
    """An amount for people: short before exact (`4`, `500m`, `2Gi`, `1.5Gi`), `unlimited` for no limit."""
    if abs(amount) >= UNLIMITED:
        return "unlimited"
    if unit is Unit.MILLI:
        if abs(amount) >= 10_000 and round(amount) % 1000:
            return f"{amount / 1000:.1f}"
        return f"{round(amount / 1000)}" if round(amount) % 1000 == 0 else f"{round(amount)}m"
    if unit is Unit.COUNT:
        return f"{round(amount)}"
    step = 0
    while abs(amount) >= 1024 and step < len(_BINARY):
        amount /= 1024
        step += 1
    return f"{amount:.1f}".removesuffix(".0") + _BINARY_NAME[step]


@lru_cache(maxsize=1 << 16)
def _milli(text: str) -> int:
    return _scaled(text, 1000)


@lru_cache(maxsize=1 << 16)
def _whole(text: str) -> int:
    return _scaled(text, 1)


def _text(number: float) -> str:
    # repr is the shortest text that reads back as the same number: 0.1 stays 0.1
    return repr(number)


@lru_cache(maxsize=1 << 12)
def _exact(text: str) -> Fraction:
    return Fraction(*_ratio(text, 1))


def _scaled(text: str, factor: int) -> int:
    top, bottom = _ratio(text, factor)
    return _clamp(-(-top // bottom) if top >= 0 else top // bottom)


def _ratio(text: str, factor: int) -> tuple[int, int]:
    """A quantity times `factor` as a fraction with a positive bottom."""
    parts = _GRAMMAR.fullmatch(text) if len(text) <= _LONGEST else None
    if parts is None:
        shown = text if len(text) <= 40 else text[:40] + "…"
        raise QuantityError(
            f"{shown!r} is not a quantity; write a number with a suffix if any, such as 500m, 1.5, 4Gi or 2k"
        )
    before, _, after = parts["digits"].partition(".")
    top, bottom = int(before + after) * factor, 10 ** len(after)
    if parts["binary"]:
        top *= 1024 ** _BINARY[parts["binary"]]
    else:
        # beyond the bound the result is saturated or the smallest step anyway
        bound = 2 * _LONGEST
        power = _DECIMAL[parts["decimal"]] if parts["decimal"] else _power(parts["power"], bound)
        top, bottom = (top * 10**power, bottom) if power >= 0 else (top, bottom * 10**-power)
    return (-top if parts["sign"] == "-" else top), bottom


def _power(text: str | None, bound: int) -> int:
    return max(-bound, min(bound, int(text))) if text else 0


def _clamp(number: int) -> int:
    return max(MIN_INT, min(MAX_INT, number))


def _decimal_text(number: int, power: int) -> str:
    """`number` x 10^`power` with the largest suffix that loses nothing."""
    if number == 0:
        return "0"
    while power < 18 and number % 1000 == 0:
        number //= 1000
        power += 3
    return f"{number}{_POWER_NAME[power]}"


def _binary_text(number: int) -> str:
    step = 0
    while step < len(_BINARY) and number % 1024 == 0:
        number //= 1024
        step += 1
    return f"{number}{_BINARY_NAME[step]}"
