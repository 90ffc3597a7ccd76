"""Counters by row: their sums over any partition of the rows are what adding up gives."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vcsched.columns.counters import Clock, Domains, Tally

ROWS = 6


def domains(*of: int) -> Domains:
    return Domains(np.array(of, dtype=np.intp), max(of) + 1)


def test_sums_follow_the_counts_and_rows_outside_add_nothing() -> None:
    tally, zones = Tally(Clock()), domains(0, 0, 1, -1)
    tally.add(0, 1)
    assert tally.per_domain(zones).tolist() == [1, 0, 0]
    tally.add(1, 2)
    tally.add(3, 5)
    assert tally.per_domain(zones).tolist() == [3, 0, 0]
    assert tally.per_domain(zones)[zones.of].tolist() == [3, 3, 0, 0]
    tally.add(0, -1)
    assert tally.rows == {1: 2, 3: 5}


def test_a_row_that_a_partition_does_not_know_yet_is_counted_on_the_row_alone() -> None:
    tally, zones = Tally(Clock()), domains(0, 1)
    tally.per_domain(zones)
    tally.add(7, 1)
    assert tally.per_domain(zones).tolist() == [0, 0, 0]
    assert tally.per_domain(domains(0, 0, 0, 0, 0, 0, 0, 0)).tolist() == [1, 0]


def test_forgotten_sums_are_made_anew() -> None:
    tally, zones = Tally(Clock()), domains(0, 1)
    tally.add(0, 1)
    tally.per_domain(zones)
    assert zones.readers == 1
    zones.forget_sums()
    tally.add(1, 4)
    assert zones.readers == 0
    assert tally.per_domain(zones).tolist() == [1, 4, 0]


def test_the_present_domains_are_those_with_a_row() -> None:
    assert domains(3, -1, 0, 3).present.tolist() == [0, 3]


def test_the_later_change_has_the_higher_number() -> None:
    clock = Clock()
    first, second = Tally(clock), Tally(clock)
    first.add(0, 1)
    second.add(0, 1)
    assert first.changed < second.changed
    first.add(0, -1)
    assert first.changed > second.changed


PARTITION = st.lists(st.integers(-1, 3), min_size=ROWS, max_size=ROWS).map(lambda of: domains(*of, -1, 3))


@given(st.data(), st.lists(PARTITION, min_size=1, max_size=3))
def test_kept_sums_equal_their_recomputation(data: st.DataObject, partitions: list[Domains]) -> None:
    tally = Tally(Clock())
    for row, partition in data.draw(
        st.lists(st.tuples(st.integers(0, ROWS - 1), st.sampled_from(partitions)), max_size=20)
    ):
        tally.add(row, -1 if data.draw(st.booleans()) and row in tally.rows else 1)
        tally.per_domain(partition)
        for each in partitions:
            each.verify()
