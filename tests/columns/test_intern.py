"""Interned columns answer per row what the values say, and ask once per distinct value."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.generators.effort import examples
from vcsched.columns.intern import InternColumn

values = st.sampled_from(["a", "b", "c", "d", None])


@examples(80)
@given(st.lists(st.tuples(st.integers(0, 12), values), min_size=1), st.lists(st.integers(0, 12)))
def test_rows_answer_as_their_last_values_do(writes: list[tuple[int, str | None]], asked: list[int]) -> None:
    column: InternColumn[str | None] = InternColumn(2)
    column.intern(None)
    plain: dict[int, str | None] = {}
    for row, value in writes:
        column.set(row, value)
        plain[row] = value
    known = [row for row in asked if row in plain]
    calls: list[str | None] = []

    def is_vowel(value: str | None) -> bool:
        calls.append(value)
        return value == "a"

    view = column.select(np.array(known, dtype=np.int64))
    assert view.where(is_vowel).tolist() == [plain[row] == "a" for row in known]
    assert len(calls) == len(set(calls))
    lengths = view.map(lambda value: float(len(value or "")))
    assert lengths.tolist() == [float(len(plain[row] or "")) for row in known]


def test_a_slice_of_rows_may_be_asked() -> None:
    column: InternColumn[str] = InternColumn(4)
    for row, value in enumerate("abca"):
        column.set(row, value)
    assert column.select(slice(1, 4)).where(lambda v: v == "a").tolist() == [False, False, True]


def test_kept_rows_are_renumbered() -> None:
    column: InternColumn[str] = InternColumn(4)
    for row, value in enumerate("abcd"):
        column.set(row, value)
    column.keep_rows(np.array([1, 3]))
    assert [column.values[number] for number in column.ids[:2]] == ["b", "d"]
