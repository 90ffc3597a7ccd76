"""binpack (spec 06 §4, §10.3)."""

from __future__ import annotations

import pytest

from tests.plugins.asking import world_with
from tests.plugins.nodeorder.scoring import ask_for, on_arrays, picture_of
from vcsched.framework.arguments import Arguments
from vcsched.plugins.binpack import Binpack

GI = 2.0**30
GPU, FOO = "nvidia.com/gpu", "example.com/foo"

NODES = [
    {"alloc": {"cpu": 2000.0, "memory": 4 * GI}, "used": {"cpu": 1000.0, "memory": GI}},
    {"alloc": {"cpu": 4000.0, "memory": 16 * GI, GPU: 4000.0}},
    {"alloc": {"cpu": 2000.0, "memory": 4 * GI, FOO: 16000.0}, "used": {"cpu": 1500.0}},
]
PODS = {
    "p1": {"cpu": 1000.0, "memory": GI},
    "p2": {"cpu": 1500.0, "memory": 0.0},
    "p3": {"cpu": 2000.0, "memory": 10 * GI, GPU: 2000.0},
    "p4": {"cpu": 3000.0, "memory": 4 * GI, FOO: 3000.0},
}
MANY = {"binpack.weight": 10, "binpack.cpu": 2, "binpack.memory": 3, "binpack.resources": f"{GPU}, {FOO}",
        f"binpack.resources.{GPU}": 7, f"binpack.resources.{FOO}": 8}  # fmt: skip
FEW = {"binpack.resources": GPU, f"binpack.resources.{GPU}": 23}


@pytest.mark.parametrize(
    ("arguments", "pod", "expected"),
    [
        (MANY, "p1", [700, 137.5, 0]),
        (MANY, "p2", [0, 375, 0]),
        (MANY, "p3", [0, 531.25, 0]),
        (MANY, "p4", [0, 173.076923076, 0]),
        (FEW, "p1", [75, 15.625, 0]),
        (FEW, "p2", [0, 37.5, 0]),
        (FEW, "p3", [0, 50.5, 0]),
        (FEW, "p4", [0, 50, 0]),
    ],
)
def test_the_fuller_node_is_better(arguments: dict[str, object], pod: str, expected: list[float]) -> None:
    score = Binpack(Arguments(arguments)).score

    assert on_arrays(picture_of(NODES), score, ask_for(PODS[pod])).tolist() == pytest.approx(expected)


def test_a_pod_that_asks_for_nothing_weighted_scores_nothing() -> None:
    score = Binpack(Arguments()).score

    assert on_arrays(picture_of(NODES), score, ask_for({"pods": 1.0, GPU: 1.0})).tolist() == [0, 0, 0]


def test_weights_below_zero_count_as_one_and_those_of_the_list_yield_to_cpu_and_memory() -> None:
    plugin = Binpack(
        Arguments(
            {
                "binpack.cpu": 5,
                "binpack.memory": -2,
                "binpack.resources": f"cpu,, {FOO} ,{GPU}",
                "binpack.resources.cpu": 9,
                f"binpack.resources.{FOO}": -3,
                f"binpack.resources.{GPU}": 7,
            }
        )
    )

    assert plugin.weights == {"cpu": 5, "memory": 1, FOO: 1, GPU: 7}


@pytest.mark.parametrize(("weight", "node"), [(1, "n-0"), (-1, "n-1")])
def test_pods_are_packed_or_with_a_negative_weight_spread(weight: int, node: str) -> None:
    world = world_with(f"binpack {{binpack.weight: {weight}}}")
    world.nodes(2, cpu=4)
    world.running("runs", on="n-0", cpu=1)
    world.gang("new", cpu=1, phase="Inqueue")

    world.session()

    assert world.binds()["default/new-0"] == node


def test_a_weight_of_zero_registers_nothing() -> None:
    world = world_with("binpack {binpack.weight: 0}")

    assert not world.open().node_order
