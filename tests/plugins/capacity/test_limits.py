"""What queues may have and deserve (spec 05 §8.1, §9.3)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from tests.harness import SessionWorld
from tests.plugins.capacity.worlds import GPU, world_of
from vcsched.model.algebra import tolerance
from vcsched.plugins.capacity.limits import Limits, flat_limits, tree_limits
from vcsched.plugins.capacity.tree import grow

INF = float("inf")
Queues = Mapping[str, Mapping[str, object]]


def limits_of(queues: Queues, *, tree: bool, cpu: int = 16, **resources: int) -> tuple[SessionWorld, Limits]:
    world = world_of(tree=tree)
    world.nodes(1, cpu=cpu, memory="32Gi", resources=resources)
    for name, said in queues.items():
        world.queue(name, **said)  # type: ignore[arg-type]
    ssn = world.open()
    least = np.array([tolerance(name) for name in ssn.space.names])
    if tree:
        return world, tree_limits(ssn, grow(ssn.queues), ssn.queues.values(), least)
    return world, flat_limits(ssn, ssn.queues.values(), least)


def of(world: SessionWorld, amounts: np.ndarray, resource: str = "cpu", unit: float = 1000.0) -> dict[str, float]:
    """Queue -> amount of a resource, in cores or devices."""
    picture = world.cache.picture
    column = picture.space.index[resource]
    return {name: float(amounts[column, q.row]) / unit for name, q in picture.queues.items() if name != "default"}


def test_a_queue_may_have_what_the_guarantees_of_the_others_leave_up_to_its_capability() -> None:
    queues = {
        "plain": {},
        "sure": {"guarantee": {"cpu": 4}},
        "small": {"capability": {"cpu": 3}},
        "capped": {"guarantee": {"cpu": 2}, "capability": {"cpu": 0}},
    }
    world, found = limits_of(queues, tree=False)

    assert of(world, found.most) == {"plain": 10, "sure": 14, "small": 3, "capped": 12}


def test_alone_a_queue_deserves_no_more_than_it_may_have_and_no_less_than_its_guarantee() -> None:
    queues = {
        "greedy": {"deserved": {"cpu": 20}, "capability": {"cpu": 5}},
        "modest": {"deserved": {"cpu": 1}, "guarantee": {"cpu": 4}},
        "nothing": {},
    }
    world, found = limits_of(queues, tree=False)

    assert of(world, found.deserved) == {"greedy": 5, "modest": 4, "nothing": 0}
    assert [bool(found.nothing[world.cache.picture.queues[name].row]) for name in queues] == [False, False, True]


def test_what_a_queue_deserves_of_a_resource_that_the_cluster_lacks_is_not_cut() -> None:
    world, found = limits_of({"q": {"deserved": {GPU: 2}}}, tree=False)

    assert of(world, found.deserved, GPU) == {"q": 2}
    assert of(world, found.most, GPU) == {"q": 0}


def test_in_a_tree_siblings_share_what_their_guarantees_leave_of_their_parent() -> None:
    queues = {
        "root": {},
        "top": {"capability": {"cpu": 10}},
        "a": {"parent": "top", "guarantee": {"cpu": 4}},
        "b": {"parent": "top", "guarantee": {"cpu": 1}, "capability": {"cpu": 3}},
        "c": {"parent": "top"},
    }
    world, found = limits_of(queues, tree=True)

    assert of(world, found.most) == {"root": INF, "top": 10, "a": 9, "b": 3, "c": 5}


def test_a_capability_that_is_not_named_is_the_parents() -> None:
    queues = {
        "root": {},
        "top": {"capability": {"memory": "4Gi", GPU: 4}},
        "leaf": {"parent": "top", "capability": {"memory": "2Gi", "cpu": 0}},
    }
    world, found = limits_of(queues, tree=True, **{GPU: 8})

    assert of(world, found.capability) == {"root": INF, "top": INF, "leaf": INF}
    assert of(world, found.capability, GPU) == {"root": INF, "top": 4, "leaf": 4}
    assert of(world, found.most, "memory", 2**30) == {"root": INF, "top": 4, "leaf": 2}


def test_the_root_without_a_capability_limits_nothing_of_what_the_cluster_has() -> None:
    world, found = limits_of({"root": {"capability": {"cpu": 0}}, "leaf": {}}, tree=True, **{GPU: 8})

    assert of(world, found.most, GPU) == {"root": INF, "leaf": INF}
    assert of(world, found.most, "pods") == {"root": INF, "leaf": INF}


def test_a_root_that_names_a_capability_gives_nothing_of_the_devices_it_does_not_name() -> None:
    world, found = limits_of({"root": {"capability": {"cpu": 8}}, "leaf": {}}, tree=True, **{GPU: 8})

    assert of(world, found.most) == {"root": 8, "leaf": 8}
    assert of(world, found.most, "memory") == {"root": INF, "leaf": INF}
    assert of(world, found.most, GPU) == {"root": 0, "leaf": 0}


def test_the_root_deserves_what_the_queues_below_it_do_and_inner_queues_what_they_say() -> None:
    queues = {
        "root": {"deserved": {"cpu": 100}},
        "top": {"deserved": {"cpu": 2}, "guarantee": {"cpu": 3}},
        "other": {"deserved": {"cpu": 5}, "capability": {"cpu": 1}},
        "leaf": {"parent": "top", "deserved": {"cpu": 7}},
    }
    world, found = limits_of(queues, tree=True)

    assert of(world, found.deserved) == {"root": 8, "top": 3, "other": 5, "leaf": 7}
    assert of(world, found.guarantee) == {"root": 3, "top": 3, "other": 0, "leaf": 0}


def test_guarantees_beyond_the_parents_capability_do_no_harm() -> None:
    queues = {
        "root": {"capability": {"cpu": 16}},
        "top": {"capability": {"cpu": 6}},
        "a": {"parent": "top", "guarantee": {"cpu": 4}},
        "b": {"parent": "top", "guarantee": {"cpu": 4}},
    }
    world, found = limits_of(queues, tree=True, cpu=8)

    assert of(world, found.most) == {"root": 16, "top": 6, "a": 4, "b": 4}


@pytest.mark.parametrize("tree", [False, True])
def test_a_device_is_spoken_of_also_where_none_of_it_is_deserved(tree: bool) -> None:
    queues = {"root": {}, "zero": {"deserved": {"cpu": 0, GPU: 0}}, "silent": {"deserved": {"cpu": 1}}}
    world, found = limits_of(queues, tree=tree, **{GPU: 8})
    picture = world.cache.picture
    row = {name: queue.row for name, queue in picture.queues.items()}
    gpu = picture.space.index[GPU]

    assert found.named[gpu, row["zero"]]
    assert not found.named[gpu, row["silent"]]
    assert not found.named[0, row["zero"]]
    assert found.named[0, row["silent"]]
