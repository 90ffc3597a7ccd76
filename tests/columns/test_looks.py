"""Rows share a look exactly when all their cells are equal, whatever changed in which order."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.generators.effort import examples
from vcsched.columns.looks import Looks
from vcsched.columns.rowlog import RowLog
from vcsched.columns.space import Space
from vcsched.columns.table import Table


class Small(Table):
    AMOUNTS = ("idle", "used")
    NUMBERS: ClassVar = {"alive": np.bool_, "pods": np.int64}

    idle: np.ndarray
    used: np.ndarray
    alive: np.ndarray
    pods: np.ndarray


_number = st.integers(0, 300)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("rows"), _number, _number),
        st.tuples(st.just("write"), _number, st.integers(0, 2)),
        st.tuples(st.just("write"), _number, st.integers(0, 2)),
        st.tuples(st.just("number"), _number, st.integers(0, 1)),
        st.tuples(st.just("look"), _number, _number),
        st.tuples(st.just("resource"), _number, _number),
        st.tuples(st.just("renumber"), _number, _number),
    ),
    max_size=40,
)


@examples(60)
@given(STEPS)
def test_rows_look_alike_where_all_their_cells_are_equal(steps: list[tuple[str, int, int]]) -> None:
    table, log = Small(Space(), capacity=2), RowLog()
    looks = Looks(table, log)
    epoch = 0
    for what, first, second in steps:
        if what == "rows":
            for _ in range(first % 80):
                table.new_row()
        elif what == "resource":
            table.space.column(f"example.com/{first % 3}")
        elif what == "renumber":
            table.keep_rows(np.arange(0, table.n, 2))
            epoch += 1
        elif what == "look":
            looks.refresh(epoch)
            assert_right(looks, table)
        elif table.n:
            row = first % table.n
            if what == "write":
                table.idle_cells[second][row] = float(first % 2)  # type: ignore[attr-defined]
                table.used_cells[0][row] = float(second)  # type: ignore[attr-defined]
            else:
                table.alive_cells[row] = bool(second)  # type: ignore[attr-defined]
                table.pods_cells[row] = second  # type: ignore[attr-defined]
            log.rows.append(row)
    looks.refresh(epoch)
    assert_right(looks, table)


def assert_right(looks: Looks[Small], table: Small) -> None:
    """Samples have the cells of their rows, no two looks of rows are the same, and all others are not in use."""
    samples, n = looks.samples, table.n
    of = looks.of
    assert len(of) == n
    for name in ("idle", "used"):
        assert np.array_equal(getattr(samples, name)[:, of], getattr(table, name)[:, :n])
    for name in ("alive", "pods"):
        assert np.array_equal(getattr(samples, name)[of], getattr(table, name)[:n])
    rows = {(*table.idle[:, row], *table.used[:, row], table.alive[row], table.pods[row]) for row in range(n)}
    assert len(set(of.tolist())) == len(rows)
    assert np.flatnonzero(looks.in_use).tolist() == sorted(set(of.tolist()))
