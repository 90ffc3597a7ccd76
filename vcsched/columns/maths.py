"""The two number worlds: one formula that runs on arrays (all rows) and on plain floats (one row).

Repairing one row through numpy costs about 50 µs, on floats about 6 µs; that difference is where per-pod
speed comes from (DESIGN 1.5). A formula that a placement changes is written once with these functions
and never with `if`, `~`, `**`, `log` or `exp`, whose results differ between the worlds.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np


class Maths(Protocol):
    """What a formula may use besides + - * and comparisons."""

    def both(self, a: Any, b: Any) -> Any: ...
    def either(self, a: Any, b: Any) -> Any: ...
    def no(self, a: Any) -> Any: ...
    def where(self, test: Any, yes: Any, otherwise: Any) -> Any: ...
    def div(self, a: Any, b: Any) -> Any: ...
    def trunc(self, a: Any) -> Any: ...
    def sqrt(self, a: Any) -> Any: ...
    def minimum(self, a: Any, b: Any) -> Any: ...
    def maximum(self, a: Any, b: Any) -> Any: ...


class ArrayMaths:
    """All rows at once. `div` by zero gives 0, like its twin on floats."""

    both = staticmethod(np.logical_and)
    either = staticmethod(np.logical_or)
    no = staticmethod(np.logical_not)
    where = staticmethod(np.where)
    trunc = staticmethod(lambda a: np.trunc(a) + 0.0)  # no negative zero, as on floats
    sqrt = staticmethod(np.sqrt)
    minimum = staticmethod(np.minimum)
    maximum = staticmethod(np.maximum)

    @staticmethod
    def div(a: Any, b: Any) -> Any:
        divisible = np.not_equal(b, 0)
        if divisible.all():
            return np.divide(a, b)  # without a mask at a fifth of the price
        a, b = np.broadcast_arrays(a, b)
        return np.divide(a, b, out=np.zeros(a.shape), where=divisible)


class FloatMaths:
    """One row: plain floats and bools, bit for bit what `ArrayMaths` gives for that row."""

    @staticmethod
    def both(a: Any, b: Any) -> Any:
        return a and b

    @staticmethod
    def either(a: Any, b: Any) -> Any:
        return a or b

    @staticmethod
    def no(a: Any) -> Any:
        return not a

    @staticmethod
    def where(test: Any, yes: Any, otherwise: Any) -> Any:
        return yes if test else otherwise

    @staticmethod
    def div(a: Any, b: Any) -> Any:
        return a / b if b != 0 else 0.0

    trunc = staticmethod(lambda a: float(math.trunc(a)))
    sqrt = staticmethod(math.sqrt)

    @staticmethod
    def minimum(a: Any, b: Any) -> Any:
        return a if a < b else b

    @staticmethod
    def maximum(a: Any, b: Any) -> Any:
        return a if a > b else b


ARRAYS: Maths = ArrayMaths()
FLOATS: Maths = FloatMaths()
