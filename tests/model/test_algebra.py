"""The arithmetic of amounts against the worked tables of spec 01 §14.1.

`s1` and `hp` are two scalars; amounts are (cpu, memory, scalars). Rows of the tables that turn on a scalar
map being absent instead of empty are left out: here the two are the same (spec 01 §15 no. 5).
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vcsched.model.algebra import (
    INFINITY,
    ZERO,
    Missing,
    add,
    add_into,
    diff,
    equal,
    exceeded_part,
    greater_partly_dim,
    greater_partly_dim_relevant,
    intersection,
    is_empty,
    less_equal,
    less_equal_dim,
    less_equal_names,
    less_equal_partly_dim,
    less_equal_partly_dim_zero_filtered,
    less_partly,
    max_,
    min_,
    min_dimension,
    multi,
    names,
    set_max,
    share,
    sub,
)
from vcsched.model.quantity import UNLIMITED
from vcsched.model.resources import Amounts

S1, HP = "scalar.io/s1", "scalar.io/hp"
GPU, RDMA, FPGA = "x.io/gpu", "x.io/rdma", "x.io/fpga"
NOTHING: Amounts = {}


def of(cpu: float = 0, memory: float = 0, **scalars: float) -> Amounts:
    """Amounts with the short names of the tables."""
    long = {"s1": S1, "hp": HP, "gpu": GPU, "rdma": RDMA, "fpga": FPGA}
    return {"cpu": cpu, "memory": memory} | {long.get(name, name): value for name, value in scalars.items()}


FULL = of(4000, 2000, s1=1000, hp=2000)


def test_adding_creates_what_was_absent() -> None:
    assert add(of(4000, 4000, s1=1), of(4000, 2000, s1=4, hp=5)) == of(8000, 6000, s1=5, hp=5)
    assert add(NOTHING, {S1: 100.0}) == {S1: 100}


def test_adding_in_place_changes_the_total_only() -> None:
    total, more = of(1, 1), of(2, 2, s1=3)
    add_into(total, more)
    assert (total, more) == (of(3, 3, s1=3), of(2, 2, s1=3))


def test_subtracting_may_leave_less_than_nothing() -> None:
    assert sub(of(4000, 4000, s1=1000, hp=2000), of(3000, 2000, s1=500, hp=1000)) == of(1000, 2000, s1=500, hp=1000)
    assert sub(of(1), of(2, s1=3)) == of(-1, 0, s1=-3)


def test_multiplying_reaches_every_amount() -> None:
    assert multi(of(4, 2, s1=3), 1.5) == of(6, 3, s1=4.5)


def test_raising_to_the_larger_amount() -> None:
    assert set_max(NOTHING, FULL) == FULL
    assert set_max(of(4000, 4000, s1=1, hp=2), of(4000, 2000, s1=4, hp=5)) == of(4000, 4000, s1=4, hp=5)
    assert set_max(of(1, 1, s1=5), of(1, 1, hp=-3)) == of(1, 1, s1=5, hp=-3)


def test_the_maximum_leaves_out_negative_scalars() -> None:
    left, right = of(1, 1024, gpu=1, rdma=4), of(2, 1024, fpga=2, rdma=5)
    assert max_(left, right) == of(2, 1024, gpu=1, fpga=2, rdma=5)
    assert max_(of(gpu=-1, rdma=-2), of(gpu=3)) == of(gpu=3)


def test_the_minimum_has_the_scalars_of_the_left_side() -> None:
    assert min_(of(4, 1, s1=5, hp=2), of(3, 2, s1=1, gpu=9)) == of(3, 1, s1=1, hp=0)
    assert min_(of(4, 1, s1=5), of(3, 2)) == of(3, 1)


@pytest.mark.parametrize(
    ("left", "right", "missing", "capped"),
    [
        (
            of(4000, 4000, s1=1000, hp=2000),
            of(5000, 2000, s1=0, hp=3000),
            ZERO,
            of(4000, 2000, s1=0, hp=2000),
        ),
        (of(4000, 4000, s1=1000, hp=2000), of(UNLIMITED, 2000), ZERO, of(4000, 2000, s1=0, hp=0)),
        (of(1, 1, s1=1, hp=2), of(1, 1, s1=0), INFINITY, of(1, 1, s1=0, hp=2)),
        (of(1, 1, s1=1, hp=2), of(1, 1), INFINITY, of(1, 1, s1=1, hp=2)),
    ],
)
def test_capping_leaves_absent_scalars_free_or_at_nothing(
    left: Amounts, right: Amounts, missing: Missing, capped: Amounts
) -> None:
    assert min_dimension(left, right, missing) == capped


def test_the_difference_lists_each_resource_once() -> None:
    more, less = diff(of(1000, 2000, s1=1000), of(2000, 1000), ZERO)
    assert more == {"memory": 1000, S1: 1000}
    assert less == {"cpu": 1000}

    more, less = diff(of(s1=3000), of(s1=1000), ZERO)
    assert more == {S1: 2000}
    assert S1 not in less


def test_an_absent_amount_without_limit_is_written_as_minus_one() -> None:
    assert diff(of(s1=1), of(), INFINITY)[1] == {"cpu": 0, "memory": 0, S1: -1}
    assert diff(of(), of(s1=1), INFINITY)[0] == {S1: -1}


def test_the_excess_lacks_what_does_not_exceed() -> None:
    running = of(1000, 10**9, gpu=1000)
    assert exceeded_part(running, running) == {}
    assert exceeded_part(of(3, 1, gpu=2, s1=1), of(1, 2, gpu=2)) == {"cpu": 2, S1: 1}


def test_a_share_of_nothing_is_nothing_or_everything() -> None:
    assert (share(0, 0), share(1, 0), share(1, 4)) == (0, 1, 0.25)


@pytest.mark.parametrize(
    ("left", "right", "missing", "fits"),
    [
        (NOTHING, NOTHING, ZERO, True),
        (NOTHING, FULL, ZERO, True),
        (FULL, NOTHING, ZERO, False),
        (of(4000, 8000, s1=1), of(8000, 8000, s1=1), ZERO, True),
        (of(4000, 2000, s1=5000), of(8000, 8000, s1=4000), ZERO, False),
        (NOTHING, FULL, INFINITY, False),
        (FULL, NOTHING, INFINITY, False),
        (of(4000, 2000), FULL, INFINITY, False),
        (FULL, of(4000, 2000), INFINITY, True),
        (of(100.05), of(100), ZERO, True),
        (of(100.2), of(100), ZERO, False),
        (of(UNLIMITED), of(UNLIMITED), ZERO, True),
        (of(float("inf")), of(float("inf")), ZERO, True),
    ],
)
def test_at_most_in_every_resource(left: Amounts, right: Amounts, missing: Missing, fits: bool) -> None:
    assert less_equal(left, right, missing) is fits


def test_the_offenders_are_named_in_order() -> None:
    assert less_equal_names(FULL, NOTHING, ZERO) == ["cpu", "memory", HP, S1]
    assert less_equal_names(NOTHING, FULL, INFINITY) == []
    assert less_equal_names(FULL, NOTHING, INFINITY) == ["cpu", "memory"]
    assert less_equal_names(of(pods=2), of(pods=1), ZERO) == ["pods"]


@pytest.mark.parametrize(
    ("left", "right", "offenders"),
    [
        (of(gpu=0), of(), []),
        (of(gpu=8), of(), []),
        (of(gpu=8), of(gpu=4), [GPU]),
        (of(8000), of(4000), ["cpu"]),
    ],
)
def test_a_child_without_limit_in_its_parent_is_never_too_big(
    left: Amounts, right: Amounts, offenders: list[str]
) -> None:
    assert less_equal_names(left, right, INFINITY) == offenders


@pytest.mark.parametrize(
    ("left", "right", "asked", "offenders"),
    [
        (of(5000, 4000), NOTHING, None, ["cpu", "memory"]),
        (of(5000, 4000), of(4000, 8000), of(1000), ["cpu"]),
        (of(3000, 3000), of(4000, 2000), of(0, 1000), ["memory"]),
        (of(4, 4000), NOTHING, NOTHING, []),
        (of(4, 4000, gpu=1), of(8, 8000), of(4, 2000, gpu=1), [GPU]),
        (of(10, 4000, gpu=1), of(100, 8000, rdma=1), of(10, 4000, gpu=0, rdma=1, s1=1), []),
        (of(110), of(100), of(0, 5), []),
        (of(100.05), of(100), of(1), ["cpu"]),
        (of(pods=5), of(pods=1), of(pods=1), []),
    ],
)
def test_only_what_is_asked_for_can_be_exceeded(
    left: Amounts, right: Amounts, asked: Amounts | None, offenders: list[str]
) -> None:
    assert less_equal_dim(left, right, asked) == offenders


@pytest.mark.parametrize(
    ("left", "right", "missing", "less"),
    [
        (NOTHING, NOTHING, ZERO, False),
        (FULL, NOTHING, ZERO, False),
        (of(4, 4, s1=1), of(4, 4, s1=2), ZERO, True),
        (of(4, 4), of(4, 4, s1=1), ZERO, True),
        (of(4, 4), of(4, 4, s1=0), ZERO, True),
        (of(4, 4, s1=1), of(4, 4), ZERO, False),
        (of(4, 4), of(4, 4, s1=1), INFINITY, False),
        (of(4, 4, s1=1), of(4, 4), INFINITY, True),
        (of(3, 4), of(4, 4), ZERO, True),
        (of(4, 3), of(4, 4), INFINITY, True),
    ],
)
def test_less_in_some_resource(left: Amounts, right: Amounts, missing: Missing, less: bool) -> None:
    assert less_partly(left, right, missing) is less


def test_at_most_in_some_asked_resource() -> None:
    asked = of(1000, 512, rdma=1, fpga=1, gpu=2)
    left, right = {RDMA: 2.0, FPGA: 2.0}, {RDMA: 2.0}
    assert less_equal_partly_dim(left, right, asked) == ["cpu", "memory", GPU, RDMA]
    assert less_equal_partly_dim_zero_filtered(left, right, asked) == [RDMA]
    assert less_equal_partly_dim_zero_filtered(NOTHING, NOTHING, of(1000, 512)) == []
    assert less_equal_partly_dim_zero_filtered(NOTHING, of(0, 2048), of(1000, 512)) == ["memory"]
    assert less_equal_partly_dim(left, right, None) == []
    assert less_equal_partly_dim(of(pods=1), of(pods=2), of(pods=1)) == []


def test_more_in_some_asked_resource() -> None:
    assert greater_partly_dim(of(0, 9), of(0, 1), of(1)) == []
    assert greater_partly_dim(of(2000), of(), of(1)) == ["cpu"]
    assert greater_partly_dim(of(gpu=2), of(), of(gpu=1)) == [GPU]
    assert greater_partly_dim_relevant(of(2000), of(), of(1)) == []
    assert greater_partly_dim_relevant(of(gpu=2), of(), of(gpu=1)) == []
    assert greater_partly_dim_relevant(of(gpu=2), of(gpu=1), of(gpu=1)) == [GPU]
    assert greater_partly_dim_relevant(of(gpu=2), of(gpu=0), of(gpu=1)) == [GPU]


def test_equality_looks_at_the_left_scalars_only() -> None:
    assert equal(of(1, 1), of(1, 1, s1=0))
    assert equal(of(1, 1, s1=0), of(1, 1))
    assert not equal(of(1, 1, s1=1), of(1, 1))
    assert equal(of(1.05), of(1))
    assert not equal(of(1.2), of(1))


def test_the_tolerance_of_bytes_is_in_the_specifications_unit() -> None:
    assert not equal({"ephemeral-storage": 1.0}, {"ephemeral-storage": 1.01})
    assert equal({"ephemeral-storage": 1.0}, {"ephemeral-storage": 1.00005})


def test_empty_but_for_pods() -> None:
    assert is_empty(NOTHING)
    assert is_empty(of(0, 0.05, pods=3, gpu=0))
    assert not is_empty(of(gpu=1))
    assert not is_empty({"ephemeral-storage": 1.0})


def test_names_are_of_what_is_there() -> None:
    assert names(of(0.2, 0, gpu=1, fpga=0, pods=1)) == ["cpu", "pods", GPU]
    assert intersection(of(0.2, gpu=1, fpga=0), of(1, gpu=2, fpga=2)) == ["cpu", GPU]
    assert intersection(of(pods=2, gpu=1), of(pods=1, gpu=2), with_pods=False) == [GPU]


vectors = st.dictionaries(st.sampled_from(["cpu", "memory", "pods", S1, HP]), st.integers(0, 5).map(float), max_size=5)


@given(vectors, vectors)
def test_what_was_added_can_be_taken_away(left: Amounts, right: Amounts) -> None:
    assert equal(left, sub(add(left, right), right))


@given(vectors, vectors)
def test_the_difference_explains_the_distance(left: Amounts, right: Amounts) -> None:
    more, less = diff(left, right, ZERO)
    assert not set(more) & set(less)
    assert equal(add(sub(left, more), less), right)


@given(vectors, vectors)
def test_fitting_and_exceeding_exclude_each_other(left: Amounts, right: Amounts) -> None:
    assert less_equal(left, right, ZERO) is (exceeded_part(left, right) == {})
    assert less_equal(left, right, ZERO) is (less_equal_names(left, right, ZERO) == [])


@given(vectors, vectors)
def test_arithmetic_leaves_its_arguments_alone(left: Amounts, right: Amounts) -> None:
    before = dict(left), dict(right)
    for function in (add, sub, set_max, max_, min_, exceeded_part, names_of_both):
        function(left, right)
    min_dimension(left, right, ZERO)
    assert (left, right) == before


def names_of_both(left: Amounts, right: Amounts) -> list[str]:
    return intersection(left, right)
