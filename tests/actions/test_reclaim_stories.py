"""What people reported about queues that take back their share, each with the outcome it should have."""

from __future__ import annotations

from typing import Any

import pytest

from tests.actions.playing import LiveWorld
from tests.actions.situations import CAPACITY, LOOSE, ONE_TIER, SHIPPED, TREE, UNWEIGHED

ADMITTING = SHIPPED.replace("  - name: overcommit\n", "")


def cluster(conf: str = SHIPPED, *, cpu: int = 4, nodes: int = 1, **options: Any) -> LiveWorld:
    """Equal nodes `n-0` …, and classes low and high."""
    world = LiveWorld(conf, **options)
    for name, value in (("low", 10), ("high", 100)):
        world.priority_class(name, value)
    world.nodes(nodes, cpu=cpu)
    return world


@pytest.mark.parametrize("conf", [SHIPPED, ONE_TIER, LOOSE], ids=["shipped", "one tier", "tier that knows no shares"])
def test_a_queue_takes_back_its_share_and_no_more(conf: str) -> None:
    world = cluster(conf)
    world.queue("rich")
    world.queue("poor")
    world.running("r", on="n-0", pods=4, cpu=1, queue="rich", priority_class="high")
    for number in range(4):
        world.gang(f"p{number}", cpu=1, queue="poor", priority_class="low", min_resources=None)

    world.play_until_quiet()

    assert world.placed("r") == 2
    assert sum(world.placed(f"p{number}") for number in range(4)) == 2
    assert len(world.victims()) == 2


def test_two_queues_do_not_reclaim_each_other_in_turn() -> None:
    world = cluster(cpu=3)
    world.queue("q1")
    world.queue("q2")
    world.running("a", on="n-0", pods=3, cpu=1, queue="q1", priority_class="low")
    world.gang("b", pods=3, cpu=1, min_member=1, queue="q2", priority_class="low", min_resources=None)

    world.play(40)

    assert {each.job for each in world.evictions()} == {"default/a"}
    assert world.rounds[-1].is_quiet


def test_a_queue_over_its_share_in_one_resource_keeps_what_it_deserves_of_the_other() -> None:
    """Its pods that ask for cpu only are no cure for the memory it has too much."""
    world = cluster(LOOSE, cpu=4)
    world.queue("q1", weight=1)
    world.queue("q2", weight=1)
    world.running("lean", on="n-0", pods=2, cpu=1, queue="q1", priority_class="low")
    world.running("fat", on="n-0", memory="20Gi", queue="q1", priority_class="low")
    world.running("others", on="n-0", pods=2, cpu=1, queue="q2", priority_class="low")
    world.gang("more", pods=1, cpu=1, queue="q2", priority_class="low", min_resources=None)

    world.play(10)

    assert world.victims() == []


def test_queues_that_are_each_over_in_what_the_other_lacks_leave_it_at_that() -> None:
    world = cluster(CAPACITY, cpu=8)
    world.queue("q1", deserved={"cpu": 4, "memory": "16Gi"})
    world.queue("q2", deserved={"cpu": 4, "memory": "16Gi"})
    world.running("cpus", on="n-0", pods=3, cpu=2, memory="1Gi", queue="q1", priority_class="low")
    world.running("memory", on="n-0", pods=2, cpu=1, memory="12Gi", queue="q2", priority_class="low")
    world.gang("more-cpus", pods=2, cpu=2, memory="1Gi", queue="q1", priority_class="low", min_resources=None)
    world.gang("more-memory", pods=2, cpu=1, memory="12Gi", queue="q2", priority_class="low", min_resources=None)

    world.play(30)

    assert sum(len(done.evictions) for done in world.rounds[-10:]) == 0


def test_the_queue_that_lost_does_not_take_back_through_its_order() -> None:
    """A queue of higher priority gives what it has too much; its pods come back and stand first in line."""
    world = cluster(CAPACITY, cpu=2, leave_after=2)
    world.queue("lender", deserved={"cpu": 1}, priority=9)
    world.queue("owner", deserved={"cpu": 1})
    world.running("l", on="n-0", pods=2, cpu=1, queue="lender", priority_class="low")
    world.gang("o", pods=1, cpu=1, queue="owner", priority_class="low", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 1
    assert world.placed("o") == 1
    assert world.placed("l") == 1


def test_a_queue_below_its_guarantee_gives_no_gang() -> None:
    world = cluster(CAPACITY, cpu=4)
    world.queue("kept", deserved={"cpu": 2}, guarantee={"cpu": 2})
    world.queue("poor", deserved={"cpu": 2})
    world.running("gang", on="n-0", pods=4, cpu=1, min_member=4, queue="kept", priority_class="low")
    world.gang("p", pods=1, cpu=1, queue="poor", priority_class="low", min_resources=None)

    world.play(10)

    assert world.victims() == []


def test_a_strict_gang_goes_whole_and_none_of_it_is_left_running() -> None:
    world = cluster(cpu=4)
    world.queue("rich")
    world.queue("poor")
    world.running("gang", on="n-0", pods=4, cpu=1, min_member=4, queue="rich", priority_class="low")
    world.gang("p", pods=1, cpu=1, queue="poor", priority_class="low", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 4
    assert world.placed("gang") == 0
    assert world.placed("p") == 1


def test_the_cheapest_victims_are_taken_wherever_they_are() -> None:
    world = cluster(cpu=2, nodes=2)
    world.queue("rich")
    world.queue("poor")
    world.running("small", on="n-0", pods=2, cpu=1, queue="rich", priority_class="low")
    world.running("large", on="n-1", cpu=2, queue="rich", priority_class="low")
    world.gang("p", pods=1, cpu=2, queue="poor", priority_class="low", min_resources=None)

    world.play_until_quiet()

    assert world.victims() == ["large-0"]


def test_room_that_is_free_comes_first_also_for_part_of_a_gang() -> None:
    world = cluster(cpu=2, nodes=2)
    world.queue("rich")
    world.queue("poor")
    world.running("r", on=["n-0", "n-0", "n-1"], cpu=1, queue="rich", priority_class="low")
    world.gang("p", pods=2, cpu=1, queue="poor", priority_class="low", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 1
    assert world.placed("p") == 2


def test_a_job_that_waits_for_admission_in_a_full_cluster_is_admitted_and_reclaims() -> None:
    world = cluster(ADMITTING)
    world.queue("rich")
    world.queue("poor")
    world.running("r", on="n-0", pods=4, cpu=1, queue="rich", priority_class="low")
    world.gang("p", pods=2, cpu=1, queue="poor", priority_class="low")
    assert world.get("PodGroup", "p").get("status") is None

    world.play_until_quiet()

    assert len(world.victims()) == 2
    assert world.placed("p") == 2


def test_a_job_that_overcommit_holds_back_says_so_and_evicts_nobody() -> None:
    world = cluster()
    world.queue("rich")
    world.queue("poor")
    world.running("r", on="n-0", pods=4, cpu=1, queue="rich", priority_class="low")
    world.gang("p", pods=2, cpu=1, queue="poor", priority_class="low")

    world.play(3)

    assert world.victims() == []
    assert "cluster at its limit" in world.why("p")


def test_a_job_larger_than_the_capability_of_its_queue_says_so_at_once() -> None:
    world = cluster(CAPACITY)
    world.queue("small", capability={"cpu": 2})
    world.running("r", on="n-0", pods=4, cpu=1, priority_class="low")
    world.gang("p", pods=3, cpu=1, queue="small", priority_class="high")

    world.play()

    assert world.victims() == []
    assert "queue small at its limit: cpu 0 of 2" in world.why("p")
    assert "raise the capability of queue small by cpu 1" in world.why("p")


@pytest.mark.parametrize(("level", "expected"), [(0, 1), (1, 0)])
def test_a_child_over_its_share_under_a_parent_that_is_not(level: int, expected: int) -> None:
    """Relatives settle among themselves; from outside the parent's share protects, where ancestors are asked."""
    argument = f"{{name: capacity, enableHierarchy: true, arguments: {{ancestorReclaimLevel: {level}}}}}"
    world = cluster(TREE.replace("{name: capacity, enableHierarchy: true}", argument), cpu=4)
    world.queue("root")
    world.queue("team", parent="root", deserved={"cpu": 4})
    world.queue("child", parent="team", deserved={"cpu": 1})
    world.queue("sister", parent="team", deserved={"cpu": 3})
    world.queue("stranger", parent="root", deserved={"cpu": 2})
    world.running("c", on="n-0", pods=4, cpu=1, queue="child", priority_class="low")
    world.gang("s", pods=1, cpu=1, queue="stranger", priority_class="low", min_resources=None)

    world.play(6)

    assert len(world.victims()) == expected


def test_who_gave_and_for_whom_is_in_the_ledger() -> None:
    world = cluster(cpu=2)
    world.queue("rich")
    world.queue("poor")
    world.running("r", on="n-0", pods=2, cpu=1, queue="rich", priority_class="low")
    world.gang("p", pods=1, cpu=1, queue="poor", priority_class="low", min_resources=None)

    world.play()

    (one,) = world.evictions()
    assert (one.job, one.reason, one.beneficiary) == ("default/r", "reclaim", "default/p")
    assert 'volcano_eviction_transactions_total{action="reclaim"} 1.0' in world.scheduler.metrics.exposition().decode()


def test_queues_that_nothing_weighs_do_not_reclaim_each_other_in_turn() -> None:
    world = cluster(UNWEIGHED, cpu=2)
    for number in (1, 2):
        world.queue(f"q{number}")
    world.running("a", on="n-0", pods=2, cpu=1, queue="q1", priority_class="low")
    world.gang("b", pods=2, cpu=1, queue="q2", priority_class="low", min_resources=None)
    world.gang("c", pods=2, cpu=1, queue="q1", priority_class="low", min_resources=None)

    world.play(40)

    assert {(each.job, each.beneficiary) for each in world.evictions()} == {("default/a", "default/b")}
    assert world.placed("b") == 2


def test_a_job_that_comes_again_under_its_name_has_won_nothing() -> None:
    world = cluster(UNWEIGHED, cpu=1, come_back=False)
    for number in (1, 2):
        world.queue(f"q{number}")
    world.running("a", on="n-0", cpu=1, queue="q1", priority_class="low")
    world.gang("b", cpu=1, queue="q2", priority_class="low", min_resources=None)
    world.play(5)
    assert world.placed("b") == 1
    world.vanish("b-0")
    world.delete(world.remove("PodGroup", "b"))
    world._sent = len(world)

    world.running("b", on="n-0", cpu=1, queue="q2", priority_class="low")
    world.gang("c", cpu=1, queue="q1", priority_class="low", min_resources=None)
    world.play(5)

    assert [each.beneficiary for each in world.evictions()] == ["default/b", "default/c"]
