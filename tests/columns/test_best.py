"""The best rows are those of the highest value, however single rows moved."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.generators.effort import examples
from vcsched.columns.best import NEVER, BestRows

value = st.sampled_from([NEVER, -1.0, 0.0, 1.0, 2.0])
steps = st.lists(st.tuples(st.integers(0, 5), value, st.integers(0, 9)), max_size=40)


@examples(150)
@given(st.lists(value, min_size=6, max_size=6), steps)
def test_every_row_of_the_highest_value_may_be_picked_and_no_other(
    start: list[float], moves: list[tuple[int, float, int]]
) -> None:
    values = np.array(start)
    best = BestRows()
    for row, new, chance in moves:
        expected = np.flatnonzero((values == values.max()) & (values != NEVER)).tolist()
        picked = best.pick(values, lambda count, chance=chance: chance % count)  # type: ignore[misc]
        assert sorted(best.ties) == expected
        assert picked in (expected or [-1])
        old, values[row] = float(values[row]), new
        best.change(row, old, new)
