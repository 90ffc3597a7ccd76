"""The live queue pops what the heap of spec 03 §11 pops, also while the order changes under it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.generators.effort import examples
from tests.oracle.heap import Heap
from vcsched.columns.live import KeyedQueue, LiveQueue

KEYS = 8
steps = st.lists(
    st.one_of(
        st.tuples(st.just("push"), st.integers(0, KEYS - 1), st.just(0)),
        st.tuples(st.just("push"), st.integers(0, KEYS - 1), st.just(0)),
        st.tuples(st.just("pop"), st.just(0), st.just(0)),
        st.tuples(st.just("drift"), st.integers(0, KEYS - 1), st.integers(0, 5)),
    ),
    max_size=80,
)


@examples(100)
@given(steps)
def test_pops_follow_the_plain_heap_while_shares_drift(events: list[tuple[str, int, int]]) -> None:
    shares = [0] * KEYS
    queue: LiveQueue[int] = LiveQueue(lambda a, b: shares[a] < shares[b])
    plain: Heap[int] = Heap(lambda a, b: shares[a] < shares[b])
    count = 0
    for what, key, share in events:
        if what == "drift":
            shares[key] = share
        elif what == "push":
            queue.push(key)
            plain.push(key)
            count += 1
        elif count:
            assert queue.pop() == plain.pop()
            count -= 1
        assert len(queue) == count
    while queue:
        assert queue.pop() == plain.pop()


@examples(100)
@given(st.lists(st.integers()))
def test_a_fixed_order_comes_out_sorted(values: list[int]) -> None:
    queue = LiveQueue(lambda a, b: a < b, values)
    assert [queue.pop() for _ in values] == sorted(values)


@examples(50)
@given(st.lists(st.integers(), min_size=1), st.integers(0, 20))
def test_a_copy_pops_the_same_and_leaves_the_original_alone(values: list[int], popped: int) -> None:
    queue = LiveQueue(lambda a, b: a // 4 < b // 4, values)
    for _ in range(min(popped, len(values) - 1)):
        queue.pop()
    twin = queue.copy()
    taken = [twin.pop() for _ in range(len(twin))]
    assert [queue.pop() for _ in range(len(queue))] == taken


def test_an_empty_queue_has_nothing_to_pop() -> None:
    queue: LiveQueue[int] = LiveQueue(lambda a, b: a < b)
    assert not queue
    with pytest.raises(IndexError):
        queue.pop()


@examples(100)
@given(st.lists(st.one_of(st.integers(0, 99), st.none()), max_size=60))
def test_a_keyed_queue_pops_the_smallest_key_whenever_it_was_pushed(events: list[int | None]) -> None:
    queue: KeyedQueue[int] = KeyedQueue(lambda number: number % 10 * 1000 + number)
    waiting: set[int] = set()
    for number in events:
        if number is not None and number not in waiting:
            queue.push(number)
            waiting.add(number)
        elif waiting:
            first = min(waiting, key=lambda item: (item % 10, item))
            assert queue.pop() == first
            waiting.remove(first)
        assert len(queue) == len(waiting)
    assert [queue.pop() for _ in range(len(queue))] == sorted(waiting, key=lambda item: (item % 10, item))
    with pytest.raises(IndexError):
        queue.pop()
