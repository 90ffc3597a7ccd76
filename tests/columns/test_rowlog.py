"""The row log tells each reader which rows changed since it looked, or that it must look at all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.generators.effort import examples
from vcsched.columns.rowlog import RowLog

LIMIT = 4
steps = st.lists(
    st.one_of(
        st.tuples(st.just("change"), st.integers(0, 9)),
        st.tuples(st.just("change"), st.integers(0, 9)),
        st.tuples(st.just("read"), st.integers(0, 2)),
        st.tuples(st.just("trim"), st.integers(0, 12)),
    ),
    max_size=60,
)


@examples(150)
@given(steps)
def test_no_change_is_ever_missed(events: list[tuple[str, int]]) -> None:
    log = RowLog()
    unread: list[list[int]] = [[], [], []]  # what each of three readers must hear
    positions = [log.position] * 3
    for what, number in events:
        if what == "change":
            log.rows.append(number)
            for changes in unread:
                changes.append(number)
        elif what == "trim":
            log.trim(number)
        else:
            found = log.since(positions[number], LIMIT)
            if found is not None:
                assert sorted(found) == sorted(set(unread[number]))
                assert len(found) <= LIMIT
            else:
                assert unread[number]  # who has missed nothing need not look at everything
            positions[number] = log.position
            unread[number] = []


def test_few_changes_are_told_row_by_row_and_many_are_not() -> None:
    log = RowLog()
    start = log.position
    log.rows.extend([3, 3, 5])
    assert sorted(log.since(start, 2) or ()) == [3, 5]
    assert log.since(start, 1) is None


def test_a_trimmed_log_goes_on_counting() -> None:
    log = RowLog()
    log.rows.extend(range(10))
    there = log.position
    log.trim(2)
    assert log.position == there
    assert log.since(there - 2, 9) is not None
    assert log.since(there - 3, 9) is None
