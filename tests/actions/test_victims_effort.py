"""Effort and record: what is hopeless costs little, and what is evicted can be looked up."""

from __future__ import annotations

import numpy as np
import pytest

from tests.actions.playing import LiveWorld
from tests.actions.situations import SHIPPED, TOPOLOGY_AWARE
from vcsched.actions.shuffle import Shuffle
from vcsched.cache.dumper.beyond import beyond
from vcsched.cache.dumper.values import Resources
from vcsched.framework.freeable import LOOK, Freeable
from vcsched.framework.points import Registered


def full(nodes: int, conf: str = SHIPPED) -> LiveWorld:
    world = LiveWorld(conf)
    for name, value in (("low", 10), ("high", 100)):
        world.priority_class(name, value)
    world.nodes(nodes, cpu=2)
    world.running("low", on=[f"n-{n % nodes}" for n in range(2 * nodes)], cpu=1, priority_class="low")
    return world


def tried(world: LiveWorld) -> float:
    """Nodes examined for preemption so far."""
    text = world.scheduler.metrics.exposition().decode()
    lines = [line for line in text.splitlines() if line.startswith("volcano_total_preemption_attempts ")]
    return float(lines[0].split()[1]) if lines else 0.0


def test_the_only_node_that_helps_is_found_behind_many_that_cannot() -> None:
    world = full(3 * LOOK)
    world.node("last", cpu=8)
    world.running("there", on="last", pods=8, cpu=1, priority_class="low")
    world.gang("urgent", pods=1, cpu=4, priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert world.placed("urgent") == 1
    assert len(world.victims()) == 4


def test_nodes_that_could_not_help_whoever_went_are_left_out() -> None:
    world = full(3 * LOOK)
    world.gang("urgent", pods=1, cpu=4, priority_class="high", min_resources=None)

    world.play()

    assert world.victims() == []
    assert tried(world) == LOOK


def test_jobs_that_are_alike_are_tried_once_and_not_again_while_nothing_happens() -> None:
    world = full(4)
    for number in range(5):
        world.gang(f"urgent{number}", pods=2, cpu=4, priority_class="high", min_resources=None)
    world.play(2)  # the second session is the first that nothing has happened before
    settled = tried(world)
    assert settled <= 2 * 4

    world.play(3)

    assert tried(world) <= settled + 4


def test_the_bound_still_counts_who_was_evicted_in_a_trial() -> None:
    world = full(2)
    ssn = world.open()
    jobs = list(ssn.jobs.values())
    before = Freeable(ssn, jobs).amounts.copy()
    trial = ssn.statement()
    trial.evict(world.task("low-0"), "preempt")

    during = Freeable(ssn, jobs).amounts.copy()

    trial.rollback()
    ssn.close()
    assert np.array_equal(before, during)


@pytest.mark.parametrize("conf", [SHIPPED, TOPOLOGY_AWARE], ids=["normal", "topology-aware"])
def test_evictions_are_in_the_dump_with_who_and_for_whom(conf: str) -> None:
    world = full(1, conf)
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)
    world.play()

    (shown,) = beyond(world.cache, Resources(world.cache.picture.space))["Evictions"]

    assert shown["Job"] == "default/low"
    assert (shown["Reason"], shown["For"]) == ("preempt", "default/urgent")


def test_shuffle_leaves_critical_pods_whoever_names_them() -> None:
    world = full(1)
    world.running("vital", on="n-0", priority_class="system-node-critical")
    world.running("system", on="n-0", namespace="kube-system")
    ssn = world.open()
    ssn.victim_tasks.registered.append(Registered("somebody", 0, lambda tasks: tasks))

    Shuffle().execute(ssn)
    ssn.close()

    assert {each.job for each in world.cache.evictor.ledger} == {"default/low"}
