"""What queues deserve (spec 05 §7.2): the tables of the specification, and the plain algorithm."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.plugins.proportion import Proportion as Oracle
from tests.oracle.resources import Resources, minimum_absent_unlimited, positive_part, total_of
from vcsched.columns.table import FloatArray
from vcsched.plugins.proportion.deserved import Vessels, limits, shares, water_fill

NAMES = ("cpu", "memory", "pods", "nvidia.com/gpu")
TOLERANCE = np.full(len(NAMES), 0.1)
MUCH = 1e9


NOTHING: Mapping[str, float] = MappingProxyType({})


class Want(NamedTuple):
    """A queue: weight, and amounts by short name."""

    weight: int = 1
    request: Mapping[str, float] = NOTHING
    guarantee: Mapping[str, float] = NOTHING
    capability: Mapping[str, float] = NOTHING


SHORT = {"cpu": "cpu", "mem": "memory", "pods": "pods", "gpu": "nvidia.com/gpu"}


def column(amounts: Mapping[str, float], otherwise: float = 0.0) -> list[float]:
    by_name = {SHORT.get(name, name): amount for name, amount in amounts.items()}
    return [by_name.get(name, otherwise) for name in NAMES]


def arrays(total: dict[str, float], wants: list[Want]) -> tuple[FloatArray, Vessels]:
    everything = np.array(column(total))
    guarantee = np.array([column(want.guarantee) for want in wants]).T
    capability = np.array([column(want.capability, np.inf) for want in wants]).T
    _, most = limits(everything, guarantee.sum(axis=1), guarantee, capability)
    weight = np.array([float(want.weight) for want in wants])
    request = np.array([column(want.request) for want in wants]).T
    return everything, Vessels(weight, request, most, guarantee)


def deserved(total: dict[str, float], *wants: Want) -> FloatArray:
    everything, vessels = arrays(total, list(wants))
    return water_fill(everything, vessels, TOLERANCE)


@pytest.mark.parametrize(
    ("total", "wants", "expected"),
    [
        pytest.param(
            {"cpu": 16, "mem": 32},
            [
                Want(1, {"cpu": 2, "mem": 2}),
                Want(3, {"cpu": 20, "mem": 40}),
                Want(4, {"cpu": 20, "mem": 4}, capability={"cpu": 6}),
            ],
            [{"cpu": 2, "mem": 2}, {"cpu": 8, "mem": 26}, {"cpu": 6, "mem": 4}],
            id="a queue at its capability leaves the rest to the others",
        ),
        pytest.param(
            {"cpu": 10},
            [Want(1, {"cpu": 1}, guarantee={"cpu": 4}), Want(1, {"cpu": 20}), Want(1, {"cpu": 20})],
            [{"cpu": 4}, {"cpu": 10 / 3}, {"cpu": 10 / 3}],
            id="a guarantee lifts above the request and is not taken out before",
        ),
        pytest.param(
            {"cpu": 4, "mem": 4},
            [Want(1, {"cpu": 2, "mem": 2}), Want(1, {"cpu": 2, "mem": 2}), Want(1, {"cpu": 1, "mem": 1})],
            [{"cpu": 1.5, "mem": 1.5}, {"cpu": 1.5, "mem": 1.5}, {"cpu": 1, "mem": 1}],
            id="what a small queue leaves is shared",
        ),
        pytest.param(
            {"gpu": 30},
            [
                Want(1, {"gpu": MUCH}, guarantee={"gpu": 5}),
                Want(1, {"gpu": MUCH}),
                Want(1, {"gpu": MUCH}, capability={"gpu": 10}),
                Want(2, {"gpu": MUCH}, guarantee={"gpu": 10}),
            ],
            [{"gpu": 6}, {"gpu": 6}, {"gpu": 6}, {"gpu": 12}],
            id="by weight where all want everything",
        ),
        pytest.param(
            {"cpu": 10},
            [Want(0, {"cpu": 5}), Want(1, {"cpu": 4})],
            [{"cpu": 0}, {"cpu": 4}],
            id="a queue of weight 0 gets nothing, whatever is left",
        ),
        pytest.param(
            {"cpu": 10}, [Want(0, {"cpu": 5}, guarantee={"cpu": 3})], [{"cpu": 0}], id="all weights 0: nothing at all"
        ),
        pytest.param(
            {"cpu": 10},
            [Want(-3, {"cpu": 5}), Want(1, {"cpu": 5})],
            [{"cpu": 0}, {"cpu": 5}],
            id="a negative weight is 0",
        ),
    ],
)  # fmt: skip
def test_the_cluster_is_poured_into_the_queues(
    total: dict[str, float], wants: list[Want], expected: list[dict[str, float]]
) -> None:
    got = deserved(total, *wants)

    assert got == pytest.approx(np.array([column(each) for each in expected]).T)


def test_limits_leave_room_for_the_guarantees_of_others() -> None:
    _, vessels = arrays(
        {"gpu": 30},
        [
            Want(guarantee={"gpu": 5}),
            Want(),
            Want(capability={"gpu": 10}),
            Want(guarantee={"gpu": 10}),
        ],
    )

    assert vessels.limit[3].tolist() == [20, 15, 10, 25]


def test_a_capability_of_no_cpu_or_memory_is_no_limit_but_one_of_no_gpu_is() -> None:
    _, vessels = arrays({"cpu": 8, "mem": 8, "gpu": 8}, [Want(capability={"cpu": 0, "mem": -1, "gpu": 0})])

    assert vessels.limit[[0, 1, 3], 0].tolist() == [8, 8, 0]


def test_where_guarantees_leave_nothing_admission_is_closed_but_what_remains_is_poured() -> None:
    total, guarantee = np.array([0.0, 0.0, 0.0, 5.0]), np.array([[0.0, 0.0, 0.0, 5.0], [0.0, 0.0, 0.0, 0.0]]).T

    admission, pouring = limits(total, guarantee.sum(axis=1), guarantee, np.full((4, 2), np.inf))

    assert admission[3].tolist() == [5, 0]
    assert pouring[3].tolist() == [5, np.inf]


def test_the_share_is_that_of_the_resource_most_of_which_is_held() -> None:
    held = np.array([[4.0, 0.0, 3.0], [8.0, 0.0, 9.0], [0.0, 0.0, 9.0], [0.0, 0.0, 0.0]])
    due = np.array([[8.0, 0.0, 0.0], [10.0, 0.0, 0.0], [1.0, 0.0, 0.05], [0.0, 0.0, 0.0]])

    assert shares(held, due, TOLERANCE).tolist() == [0.8, 0.0, 0.0]


AMOUNT = st.one_of(st.just(0), st.integers(0, 20), st.integers(0, 10**6)).map(float)
SOME = st.dictionaries(st.sampled_from(sorted(SHORT)), AMOUNT)
WANT = st.builds(Want, weight=st.integers(0, 9), request=SOME, guarantee=SOME, capability=SOME)


@settings(max_examples=150, deadline=None)
@given(total=SOME, wants=st.lists(WANT, min_size=1, max_size=20))
def test_what_queues_deserve_is_what_the_plain_algorithm_gives_to_the_last_bit(
    total: dict[str, float], wants: list[Want]
) -> None:
    got = deserved(total, *wants)

    accounts = plain(total, wants)
    for index, account in enumerate(accounts):
        assert got[:, index].tolist() == [account.deserved.get(name) for name in NAMES]


def plain(total: dict[str, float], wants: list[Want]) -> list[Any]:
    """The accounts of the oracle, filled."""
    oracle = Oracle.__new__(Oracle)
    oracle.session = SimpleNamespace(total=vector(total))  # type: ignore[assignment]
    guaranteed = total_of(vector(want.guarantee) for want in wants)
    accounts = {}
    for index, want in enumerate(wants):
        guarantee = vector(want.guarantee)
        most = positive_part(oracle.session.total, guaranteed).add(guarantee)
        unlimited = {name: MUCH * MUCH for name in ("cpu", "mem") if want.capability.get(name, 0) <= 0}
        most = minimum_absent_unlimited(most, vector({**want.capability, **unlimited}, zeros=True))
        accounts[str(index)] = SimpleNamespace(
            name=str(index), weight=want.weight, deserved=Resources(), real_capability=most,
            request=vector(want.request), guarantee=guarantee,
        )  # fmt: skip
    oracle.accounts = accounts  # type: ignore[assignment]
    oracle.fill_water()
    return list(accounts.values())


def vector(amounts: Mapping[str, float], *, zeros: bool = False) -> Resources:
    """An amount of the oracle. A sum has no entry for what nobody has; a limit of 0 is one."""
    made = Resources()
    for name, amount in amounts.items():
        if amount > 0 or zeros:
            made.set(SHORT[name], amount)
    return made
