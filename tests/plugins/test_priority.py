"""Priority: order and victims (spec 05 §4, §20.1)."""

from __future__ import annotations

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import tasks, world_with
from vcsched.framework.points import EvictionContext


@pytest.fixture
def world() -> SessionWorld:
    world = world_with("priority")
    world.nodes(1, cpu=10)
    for name, value in (("high", 1000), ("middle", 500), ("low", 100)):
        world.priority_class(name, value)
    return world


def test_the_higher_job_goes_first(world: SessionWorld) -> None:
    world.gang("last", priority_class="low")
    world.gang("first", priority_class="high")
    ssn = world.open()

    assert ssn.job_order.compare(world.job("first"), world.job("last")) < 0
    assert ssn.job_order.compare(world.job("last"), world.job("last")) == 0


def test_the_higher_task_of_a_job_goes_first_also_where_tasks_are_sorted_by_key(world: SessionWorld) -> None:
    world.gang("mixed", pods=0, min_member=1)
    for name, priority in (("a", 5), ("b", 7), ("c", 6)):
        world.pod(name, gang="mixed", priority=priority)
    ssn = world.open()
    waiting = tasks(world, "mixed")
    key = ssn.task_order.sort_key()

    assert key is not None
    assert [task.name for task in sorted(waiting, key=key)] == ["b", "c", "a"]
    assert ssn.task_order.compare(waiting[1], waiting[0]) < 0


def test_only_lower_jobs_and_lower_tasks_of_the_own_job_are_victims(world: SessionWorld) -> None:
    world.running("above", on="n-0", priority_class="high")
    world.running("equal", on="n-0", priority_class="middle")
    world.running("below", on="n-0", priority_class="low")
    own = world.gang("own", pods=0, min_member=1, priority_class="middle")
    assert own.pods == []
    for name, priority in (("own-low", 1), ("own-same", 500)):
        world.pod(name, gang="own", priority=priority, node="n-0")
    world.pod("own-new", gang="own", priority=500)
    ssn = world.open()
    candidates = [task for job in ("above", "equal", "below", "own") for task in tasks(world, job)]

    victims = ssn.preemptable(world.task("own-new"), candidates)

    assert [task.name for task in victims] == ["below-0", "own-low"]


def test_gang_preemption_takes_lower_jobs_and_gang_reclaim_any(world: SessionWorld) -> None:
    world.gang("evictor", priority_class="middle")
    world.running("above", on="n-0", priority_class="high")
    world.running("below", on="n-0", priority_class="low")
    ssn = world.open()
    candidates = [*tasks(world, "above"), *tasks(world, "below")]
    evictor = world.job("evictor")

    preempted = ssn.unified_evictable(EvictionContext("gangpreempt", evictor, None, ""), candidates)
    reclaimed = ssn.unified_evictable(EvictionContext("gangreclaim", evictor, None, ""), candidates)

    assert preempted == tasks(world, "below")
    assert reclaimed == candidates


def test_a_job_starves_until_all_its_pods_have_room(world: SessionWorld) -> None:
    world.running("whole", on="n-0", pods=2, cpu=1)
    world.gang("part", pods=2, on=["n-0"], min_member=1, cpu=1)
    ssn = world.open()

    assert not ssn.job_starving(world.job("whole"))
    assert ssn.job_starving(world.job("part"))
