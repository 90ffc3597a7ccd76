"""Both number worlds give the same bits for every function that a formula may use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.generators.effort import examples
from vcsched.columns.maths import ARRAYS, FLOATS

number = st.one_of(
    st.integers(-(2**53), 2**53).map(float),
    st.floats(-1e18, 1e18, allow_nan=False),
    st.sampled_from([0.0, 1.0, -1.0, 0.5, float("inf")]),
)
pairs = st.lists(st.tuples(number, number), min_size=1, max_size=8)


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")  # inf by inf is no number, on floats too
@pytest.mark.parametrize("name", ["div", "minimum", "maximum"])
@examples(60)
@given(pairs=pairs)
def test_functions_of_two_numbers(name: str, pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array(column) for column in zip(*pairs, strict=True))
    compare(getattr(ARRAYS, name)(a, b), [getattr(FLOATS, name)(x, y) for x, y in pairs])
    compare(getattr(ARRAYS, name)(a, b[0]), [getattr(FLOATS, name)(x, pairs[0][1]) for x, _ in pairs])


@pytest.mark.parametrize("name", ["trunc", "sqrt"])
@examples(60)
@given(numbers=st.lists(st.floats(0, 1e18), min_size=1))
def test_functions_of_one_number(name: str, numbers: list[float]) -> None:
    compare(getattr(ARRAYS, name)(np.array(numbers)), [getattr(FLOATS, name)(x) for x in numbers])


@examples(50)
@given(st.lists(st.floats(-1e18, 1e18), min_size=1))
def test_negative_numbers_are_cut_towards_a_zero_without_sign(numbers: list[float]) -> None:
    compare(ARRAYS.trunc(np.array([*numbers, -0.5])), [FLOATS.trunc(x) for x in [*numbers, -0.5]])


@examples(50)
@given(st.lists(st.tuples(st.booleans(), st.booleans(), number, number), min_size=1, max_size=8))
def test_choices(rows: list[tuple[bool, bool, float, float]]) -> None:
    p, q, a, b = (np.array(column) for column in zip(*rows, strict=True))
    assert ARRAYS.both(p, q).tolist() == [bool(FLOATS.both(x, y)) for x, y, _, _ in rows]
    assert ARRAYS.either(p, q).tolist() == [bool(FLOATS.either(x, y)) for x, y, _, _ in rows]
    assert ARRAYS.no(p).tolist() == [FLOATS.no(x) for x, _, _, _ in rows]
    compare(ARRAYS.where(p, a, b), [FLOATS.where(x, y, z) for x, _, y, z in rows])


def compare(array: Any, floats: list[float]) -> None:
    assert np.asarray(array, dtype=np.float64).tobytes() == np.array(floats, dtype=np.float64).tobytes()
