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
from vcsched.kube.link import Evict


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

    assert {each.job for each in world.cache.evictor.ledger.latest} == {"default/low"}


# ---------------------------------------------------------------- what people see


def test_who_was_promised_room_is_told_so_and_how_many_pods_are_still_in_it() -> None:
    world = full(1)
    world.leave_after = 4
    world.gang("urgent", pods=2, cpu=1, priority_class="high", min_resources=None)

    told = set()
    for _ in range(4):
        world.play()
        told.add(world.why("urgent"))

    assert told == {"room for 2 of 2 is promised; pods that still leave there: 2"}
    (condition,) = world.get("PodGroup", "urgent")["status"]["conditions"]
    assert condition["message"].endswith(told.pop())


@pytest.mark.parametrize(
    ("namespace", "whom"), [("default", "for job urgent"), ("elsewhere", "for a job of queue default")]
)
def test_a_victim_is_told_why_and_for_whom(namespace: str, whom: str) -> None:
    world = full(1)
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None, namespace=namespace)
    world.play(2)

    (evict,) = world.of_type(Evict)
    (event,) = world.events("Evict")

    assert evict.message == f"Pod is evicted, because of preempt — {whom}"
    assert (event.about.name, event.message) == ("low", f"preempt — {whom}")


def test_evictions_are_counted_by_queue_beneficiary_and_outcome() -> None:
    world = full(2)
    world.refused = {"low-0"}
    world.gang("urgent", pods=4, cpu=1, priority_class="high", min_resources=None)
    world.play(2)

    text = world.scheduler.metrics.exposition().decode()

    series = 'vcsched_evictions_total{action="preempt",for_queue="default",outcome="%s",queue="default"} %.1f'
    assert series % ("deleted", 3) in text
    assert series % ("refused", 1) in text
