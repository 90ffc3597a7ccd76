"""What admitted jobs reserve (spec 05 §1.2, §20.7)."""

from __future__ import annotations

import pytest

from vcsched.model.reserve import elastic, reserve, ungate

GPU = "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("minimum", "allocated", "expected"),
    [
        pytest.param(
            {"cpu": 4000, "memory": 4096, GPU: 8000},
            {"cpu": 1000, "memory": 1024, GPU: 4000},
            {"cpu": 3000, "memory": 3072, GPU: 4000},
            id="what is missing",
        ),
        pytest.param({"cpu": 1, GPU: 2000}, {GPU: 2000}, {"cpu": 1}, id="a resource of which nothing is missing goes"),
        pytest.param({"cpu": 1}, {"cpu": 3}, {"cpu": 0}, id="cpu stays"),
        pytest.param({"pods": 10}, {"pods": 4}, {"pods": 6}, id="pods by the piece"),
        pytest.param({GPU: 5}, {}, {GPU: 5}, id="nothing allocated"),
        pytest.param({}, {"cpu": 5}, {}, id="only what the minimum names"),
    ],
)
def test_reserve_is_what_a_minimum_lacks(
    minimum: dict[str, float], allocated: dict[str, float], expected: dict[str, float]
) -> None:
    assert reserve(minimum, allocated) == expected


def test_what_gated_pods_ask_is_taken_off_down_to_nothing() -> None:
    assert ungate({"cpu": 5, "memory": 1, "pods": 3}, {"cpu": 2, "memory": 4, "pods": 1}) == {
        "cpu": 3,
        "memory": 0,
        "pods": 2,
    }


def test_gated_pods_that_ask_for_nothing_take_nothing_off() -> None:
    assert ungate({"cpu": 5, "pods": 3}, {"cpu": 0, "pods": 1}) == {"cpu": 5, "pods": 3}


def test_elastic_is_what_is_held_beyond_the_minimum() -> None:
    assert elastic({"cpu": 2, "memory": 2, GPU: 1}, {"cpu": 1, "memory": 3, GPU: 1}) == {"cpu": 1}
    assert elastic({"cpu": 2}, {}) == {"cpu": 2}
