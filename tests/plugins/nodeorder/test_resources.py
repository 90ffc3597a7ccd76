"""LeastAllocated, MostAllocated and BalancedAllocation (spec 06 §3.3-3.4, §10.2)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.plugins.nodeorder.scoring import ask_for, on_arrays, picture_of
from vcsched.plugins.nodeorder.balanced import Balanced, asks_something
from vcsched.plugins.nodeorder.resources import LeastAllocated, MostAllocated

GI = 2.0**30
GPU = "nvidia.com/gpu"


def node(
    cpu: float, memory: float, gpu: float = 0.0, *, used: dict[str, float] | None = None
) -> dict[str, dict[str, float]]:
    amounts = {"cpu": cpu * 1000, "memory": memory * GI, **({GPU: gpu * 1000} if gpu else {})}
    used = used or {}
    nonzero = {name: used.get(name, 0.0) for name in ("cpu", "memory")}
    return {"view_alloc": amounts, "view_used": used, "view_nonzero": nonzero}


def test_the_emptier_node_is_better_or_the_fuller_one() -> None:
    picture = picture_of([node(2, 4), node(4, 8)])
    ask = ask_for({}, (1000.0, 1e9))

    # (1000 - 500)/1000 of cpu, 76 of memory; and so on, cut to whole numbers
    assert on_arrays(picture, LeastAllocated(1).score, ask).tolist() == [63, 81]
    assert on_arrays(picture, MostAllocated(1).score, ask).tolist() == [36, 18]


def test_scores_are_multiplied_by_their_weight() -> None:
    picture = picture_of([node(2, 4)])
    ask = ask_for({}, (1000.0, 2 * GI))

    assert on_arrays(picture, LeastAllocated(3).score, ask).tolist() == [150]
    assert on_arrays(picture, MostAllocated(-2).score, ask).tolist() == [-100]


def test_a_resource_that_the_node_has_nothing_of_is_left_out() -> None:
    picture = picture_of([node(4, 0), node(0, 0)])
    ask = ask_for({}, (1000.0, GI))

    assert on_arrays(picture, LeastAllocated(1).score, ask).tolist() == [75, 0]
    assert on_arrays(picture, MostAllocated(1).score, ask).tolist() == [25, 0]


def test_more_than_everything_is_no_room_and_all_used() -> None:
    picture = picture_of([node(1, 1)])
    ask = ask_for({}, (2000.0, GI / 2))

    assert on_arrays(picture, LeastAllocated(1).score, ask).tolist() == [25]
    assert on_arrays(picture, MostAllocated(1).score, ask).tolist() == [75]


@settings(deadline=None)
@given(
    whole=st.tuples(st.integers(0, 128_000), st.integers(0, 2**43)),
    wanted=st.tuples(st.integers(0, 200_000), st.integers(0, 2**44)),
)
def test_divisions_are_those_of_whole_numbers(whole: tuple[int, int], wanted: tuple[int, int]) -> None:
    amounts = {"cpu": float(whole[0]), "memory": float(whole[1])}
    picture = picture_of([{"view_alloc": amounts}])
    ask = ask_for({}, (float(wanted[0]), float(wanted[1])))
    least = [0 if r > a else (a - r) * 100 // a for a, r in zip(whole, wanted, strict=True) if a]
    most = [min(r, a) * 100 // a for a, r in zip(whole, wanted, strict=True) if a]

    assert on_arrays(picture, LeastAllocated(1).score, ask)[0] == (sum(least) // len(least) if least else 0)
    assert on_arrays(picture, MostAllocated(1).score, ask)[0] == (sum(most) // len(most) if most else 0)


def test_a_pod_that_evens_a_node_out_is_better_there() -> None:
    picture = picture_of([node(2, 2), node(4, 2)])
    ask = ask_for({"cpu": 1000.0, "memory": GI})

    assert on_arrays(picture, Balanced(1).score, ask).tolist() == [75, 68]
    assert on_arrays(picture, Balanced(10).score, ask).tolist() == [750, 680]


def test_gpus_count_only_for_pods_that_ask_for_them_and_where_there_are_some() -> None:
    half = {"cpu": 500.0, "memory": GI / 2, GPU: 0.0}
    picture = picture_of([node(1, 1, 1, used=half), node(1, 1, used=half)])

    without = on_arrays(picture, Balanced(1).score, ask_for({"cpu": 0.0, "memory": GI / 4})).tolist()
    with_gpu = on_arrays(picture, Balanced(1).score, ask_for({"memory": GI / 4, GPU: 1000.0})).tolist()

    # memory goes from 1/2 to 3/4: 100 becomes 87
    assert without == [68, 68]
    # with the GPU: 1/2, 1/2, 0 becomes 1/2, 3/4, 1
    before, after = 100 - math.sqrt(1 / 18) * 100, 100 - math.sqrt(1 / 24) * 100
    assert with_gpu == [50 + (50 + int(after) - int(before)) // 2, 68]


@pytest.mark.parametrize(
    ("asked", "expected"), [({}, False), ({"pods": 1.0}, False), ({"memory": 1.0}, True), ({GPU: 1.0}, True)]
)
def test_a_pod_that_asks_for_nothing_that_is_balanced_is_not_scored(asked: dict[str, float], expected: bool) -> None:
    assert asks_something(ask_for(asked)) == expected
