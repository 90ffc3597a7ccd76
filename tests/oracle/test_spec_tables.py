"""The specification's own worked tables hold for the oracle's rules (spec 01 §14.1, 05 §7.2)."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pytest

from .plugins.proportion import Proportion
from .plugins.queue_shares import QueueAccount
from .quantity import away_from_zero, quantity
from .queue import Queue
from .resources import (
    EPSILON,
    LARGEST_FLOAT,
    Resources,
    common_names,
    exceeds_relevant,
    fits,
    lacking,
    maximum,
    minimum_absent_unlimited,
    minimum_absent_zero,
    over_limit,
    positive_part,
    some_within,
    total_of,
)


def amount(cpu: float = 0, memory: float = 0, **scalars: float) -> Resources:
    return Resources(cpu, memory, dict(scalars) or None)


EMPTY = Resources()
FULL = amount(4000, 2000, s1=1000, hp=2000)


@pytest.mark.parametrize(
    ("left", "right", "holds"),
    [
        pytest.param(EMPTY, EMPTY, True, id="nothing fits nothing"),
        pytest.param(EMPTY, FULL, True, id="nothing fits something"),
        pytest.param(FULL, EMPTY, False, id="something does not fit nothing"),
        pytest.param(amount(1, 8000), amount(2, 8000), True, id="equal memory"),
        pytest.param(amount(1, 1, s1=5000), amount(2, 2, s1=4000), False, id="a larger scalar"),
    ],
)
def test_less_or_equal(left: Resources, right: Resources, holds: bool) -> None:
    assert fits(left, right) is holds


def test_names_that_are_over_come_cpu_first_then_memory_then_scalars() -> None:
    assert lacking(FULL, EMPTY) == ["cpu", "memory", "hp", "s1"]


@pytest.mark.parametrize(
    ("value", "limit", "request_", "names"),
    [
        pytest.param(amount(5000), amount(4000), amount(1000), ["cpu"], id="cpu"),
        pytest.param(amount(3000, 3000), amount(4000, 2000), amount(0, 1000), ["memory"], id="memory"),
        pytest.param(amount(4, 4000), EMPTY, EMPTY, [], id="nothing requested"),
        pytest.param(amount(4, 4, gpu=1), amount(8, 8), amount(4, 2, gpu=1), ["gpu"], id="scalar not there"),
        pytest.param(
            amount(10, 4000, gpu=1),
            amount(100, 8000, A100=1),
            amount(10, 4000, gpu=0, A100=1, scalar=1),
            [],
            id="only requested scalars count",
        ),
        pytest.param(amount(110), amount(100), EMPTY, [], id="cpu not requested"),
    ],
)
def test_over_limit(value: Resources, limit: Resources, request_: Resources, names: list[str]) -> None:
    assert over_limit(value, limit, request_) == names


@pytest.mark.parametrize(
    ("left", "right", "request_", "holds"),
    [
        pytest.param(EMPTY, EMPTY, amount(1000, 512), False, id="nothing on both sides does not count"),
        pytest.param(EMPTY, amount(0, 2048), amount(1000, 512), True, id="memory is within"),
        pytest.param(
            amount(0, 0, rdma=2, fpga=2),
            amount(0, 0, rdma=2),
            amount(1000, 512, rdma=1, fpga=1, gpu=2),
            True,
            id="a scalar is within",
        ),
    ],
)
def test_some_within(left: Resources, right: Resources, request_: Resources, holds: bool) -> None:
    assert some_within(left, right, request_) is holds


@pytest.mark.parametrize(
    ("left", "right", "request_", "holds"),
    [
        pytest.param(amount(1, 5), amount(1, 1), amount(1), False, id="memory is not requested"),
        pytest.param(amount(2000), EMPTY, amount(1), False, id="right has no cpu"),
        pytest.param(amount(0, 0, gpu=2), EMPTY, amount(0, 0, gpu=1), False, id="right lacks the scalar"),
        pytest.param(amount(0, 0, gpu=2), amount(0, 0, gpu=1), amount(0, 0, gpu=1), True, id="more of the scalar"),
    ],
)
def test_exceeds_relevant(left: Resources, right: Resources, request_: Resources, holds: bool) -> None:
    assert exceeds_relevant(left, right, request_) is holds


def test_minimum_maximum_and_common_names() -> None:
    left = amount(4000, 4000, a=1000, b=2000)

    lesser = minimum_absent_zero(left, amount(5000, 2000, a=0, b=3000))
    unlimited = minimum_absent_zero(left, Resources(LARGEST_FLOAT, 2000))
    kept = minimum_absent_unlimited(amount(1, 1, a=1, b=2), amount(1, 1, a=0))
    greater = maximum(amount(1, 1024, gpu=1, common=4), amount(2, 1024, npu=2, common=5))

    assert (lesser.cpu, lesser.memory, lesser.scalars) == (4000, 2000, {"a": 0, "b": 2000})
    assert (unlimited.cpu, unlimited.memory, unlimited.scalars) == (4000, 2000, {"a": 0, "b": 0})
    assert kept.scalars == {"a": 0, "b": 2}
    assert (greater.cpu, greater.memory, greater.scalars) == (2, 1024, {"gpu": 1, "npu": 2, "common": 5})
    assert common_names(amount(2 * EPSILON, 0, fpga=0, gpu=1), amount(1, 0, fpga=2, gpu=2)) == ["cpu", "gpu"]


# ---- water filling (spec 05 §7.2)

Line = tuple[str, int, Resources, Resources | None, Resources]  # name, weight, request, capability, guarantee


def fill(total: Resources, lines: list[Line]) -> dict[str, Resources]:
    """What each queue deserves."""
    plugin = Proportion(SimpleNamespace(total=total), {"name": "proportion"})  # type: ignore[arg-type]
    plugin.accounts = {}
    guaranteed = total_of(guarantee for *_, guarantee in lines)
    for name, weight, request, capability, guarantee in lines:
        account = QueueAccount(Queue({"metadata": {"name": name}, "spec": {"weight": weight}}))
        account.request, account.guarantee = request, guarantee
        account.real_capability = positive_part(total, guaranteed).add(guarantee)
        if capability is not None:
            account.real_capability = minimum_absent_unlimited(account.real_capability, capability)
        plugin.accounts[name] = account
    plugin.fill_water()
    return {name: account.deserved for name, account in plugin.accounts.items()}


def test_what_a_queue_does_not_ask_for_goes_to_the_others_by_weight() -> None:
    deserved = fill(
        amount(16, 32),
        [
            ("a", 1, amount(2, 2), None, EMPTY),
            ("b", 3, amount(20, 40), None, EMPTY),
            ("c", 4, amount(20, 4), amount(6, LARGEST_FLOAT), EMPTY),
        ],
    )
    assert {n: (round(d.cpu, 3), round(d.memory, 3)) for n, d in deserved.items()} == {
        "a": (2, 2),
        "b": (8, 26),
        "c": (6, 4),
    }


def test_a_guarantee_lifts_a_queue_and_is_taken_twice() -> None:
    lines: list[Line] = [
        ("a", 1, amount(1), None, amount(4)),
        *((n, 1, amount(20), None, EMPTY) for n in "bc"),
    ]
    deserved = fill(amount(10), lines)
    assert {n: round(d.cpu, 3) for n, d in deserved.items()} == {"a": 4, "b": 3.333, "c": 3.333}


def test_queues_that_ask_for_more_than_there_is_get_equal_parts() -> None:
    lines: list[Line] = [(name, 1, amount(n, n), None, EMPTY) for name, n in (("q1", 2), ("q2", 2), ("q3", 1))]
    deserved = fill(amount(4, 4), lines)
    assert {n: (d.cpu, d.memory) for n, d in deserved.items()} == {
        "q1": (1.5, 1.5),
        "q2": (1.5, 1.5),
        "q3": (1, 1),
    }


def test_scalars_are_shared_by_weight_too() -> None:
    much = amount(0, 0, g=1e6)
    deserved = fill(
        amount(0, 0, g=30),
        [
            ("q1", 1, much, None, amount(0, 0, g=5)),
            ("q2", 1, much, None, EMPTY),
            ("q3", 1, much, Resources(LARGEST_FLOAT, LARGEST_FLOAT, {"g": 10}), EMPTY),
            ("q4", 2, much, None, amount(0, 0, g=10)),
        ],
    )
    assert {n: round(d.get("g"), 3) for n, d in deserved.items()} == {"q1": 6, "q2": 6, "q3": 6, "q4": 12}


# ---- quantities (spec 01 §1.2)


@pytest.mark.parametrize(
    ("text", "value"),
    [("1.", 1), (".5", Fraction(1, 2)), ("1.G", 10**9), ("1e3", 1000), ("-1.5", Fraction(-3, 2))],
)
def test_unusual_quantities_are_read(text: str, value: Fraction) -> None:
    assert quantity(text) == value


def test_rounding_goes_away_from_zero() -> None:
    assert away_from_zero(quantity("100u") * 1000) == 1
    assert away_from_zero(quantity("100m")) == 1
    assert away_from_zero(quantity("-1.5")) == -2
