"""Tables grow in rows and in resources without losing a cell, and memoryviews show the arrays."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.generators.effort import examples
from vcsched.columns.space import CPU, MEMORY, PODS, Space
from vcsched.columns.table import Table


class Small(Table):
    AMOUNTS = ("room",)
    NUMBERS: ClassVar = {"count": np.int64, "alive": np.bool_}


class SmallByRow(Small):
    BY_ROW = True


steps = st.lists(
    st.one_of(
        st.tuples(st.just("row"), st.just(0), st.just(0)),
        st.tuples(st.just("resource"), st.integers(0, 6), st.just(0)),
        st.tuples(st.just("write"), st.integers(0, 30), st.integers(-9, 9)),
        st.tuples(st.just("free"), st.integers(0, 30), st.just(0)),
    ),
    max_size=60,
)


@pytest.mark.parametrize("kind", [Small, SmallByRow])
@pytest.mark.parametrize("ordered", [False, True])
@examples(40)
@given(events=steps)
def test_every_cell_keeps_its_value_while_the_table_grows(
    kind: type[Table], ordered: bool, events: list[tuple[str, int, int]]
) -> None:
    space = Space()
    table = kind(space, capacity=2, ordered=ordered)
    plain: dict[int, dict[int, float]] = {}
    for what, number, value in events:
        if what == "resource":
            space.column(f"example.com/r{number}")
        elif what == "row":
            row = table.new_row()
            assert row not in plain
            assert table.room[:, row].tolist() == [0.0] * space.width  # type: ignore[attr-defined]
            assert table.count[row] == 0  # type: ignore[attr-defined]
            plain[row] = {}
        elif plain:
            row = sorted(plain)[number % len(plain)]
            if what == "free":
                table.free(row)
                del plain[row]
            else:
                column = number % space.width
                table.room_cells[column][row] = value  # type: ignore[attr-defined]
                table.count_cells[row] = value  # type: ignore[attr-defined]
                plain[row][column] = float(value)
        check(table, plain)
    if not ordered:
        assert table.in_use == len(plain)


def check(table: Table, plain: dict[int, dict[int, float]]) -> None:
    expected = np.zeros((table.space.width, table.capacity))
    for row, cells in plain.items():
        for column, value in cells.items():
            expected[column, row] = value
    assert np.array_equal(table.room, expected)  # type: ignore[attr-defined]
    assert [list(cells) for cells in table.room_cells] == expected.tolist()  # type: ignore[attr-defined]


def test_a_freed_row_of_an_ordered_table_is_never_given_out_again() -> None:
    table = Small(Space(), capacity=2, ordered=True)
    first, second = table.new_row(), table.new_row()
    table.free(first)
    assert table.new_row() == second + 1


def test_kept_rows_move_together_and_the_others_are_zero() -> None:
    table = Small(Space(), capacity=4, ordered=True)
    for row in range(4):
        table.new_row()
        table.count_cells[row] = row + 1  # type: ignore[attr-defined]
        table.room_cells[CPU][row] = row + 1.0  # type: ignore[attr-defined]
    table.keep_rows(np.array([1, 3]))
    assert table.count.tolist() == [2, 4, 0, 0]  # type: ignore[attr-defined]
    assert table.room[CPU].tolist() == [2.0, 4.0, 0.0, 0.0]  # type: ignore[attr-defined]
    assert table.new_row() == 2


def test_amounts_are_told_by_name_without_zeros() -> None:
    space = Space()
    table = Small(space)
    row = table.new_row()
    gpu = space.column("nvidia.com/gpu")
    table.room_cells[gpu][row] = 2000.0  # type: ignore[attr-defined]
    table.room_cells[CPU][row] = 5.0  # type: ignore[attr-defined]
    assert table.amounts_of("room", row) == {"cpu": 5.0, "nvidia.com/gpu": 2000.0}


def test_a_resource_keeps_its_column_and_people_hear_cpu_and_memory_first() -> None:
    space = Space()
    later = space.column("zz.com/a")
    earlier = space.column("aa.com/b")
    assert space.column("zz.com/a") == later
    assert space.ranked([later, PODS, earlier, MEMORY, CPU]) == [CPU, MEMORY, earlier, PODS, later]
