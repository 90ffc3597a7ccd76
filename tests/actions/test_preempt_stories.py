"""What people reported about preemption, each with the outcome it should have, over several sessions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.actions.playing import LiveWorld
from tests.actions.situations import CAPACITY, HOST, LOOSE, SHIPPED, TOPOLOGY_AWARE

BOTH = pytest.mark.parametrize("conf", [SHIPPED, TOPOLOGY_AWARE], ids=["normal", "topology-aware"])


def cluster(conf: str = SHIPPED, *, cpu: int = 2, nodes: int = 1, **options: Any) -> LiveWorld:
    """Equal nodes `n-0` …, and classes low, mid and high."""
    world = LiveWorld(conf, **options)
    for name, value in (("low", 10), ("mid", 50), ("high", 100)):
        world.priority_class(name, value)
    world.nodes(nodes, cpu=cpu)
    return world


def apart_from(app: str) -> dict[str, Any]:
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": app}}}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


@BOTH
def test_a_gang_of_two_displaces_two_jobs_of_one_pod(conf: str) -> None:
    world = cluster(conf)
    world.running("a", on="n-0", cpu=1, priority_class="low")
    world.running("b", on="n-0", cpu=1, priority_class="low")
    world.gang("urgent", pods=2, cpu=1, priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert sorted(world.victims()) == ["a-0", "b-0"]
    assert world.placed("urgent") == 2


@BOTH
def test_one_pod_needed_is_one_pod_evicted(conf: str) -> None:
    world = cluster(conf, cpu=10)
    world.running("many", on="n-0", pods=10, cpu=1, priority_class="low")
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 1
    assert world.placed("urgent") == 1


@BOTH
def test_who_turns_out_not_to_be_needed_is_given_back(conf: str) -> None:
    world = cluster(conf, cpu=4)
    world.running("small", on="n-0", cpu=1, priority_class="low")
    world.running("large", on="n-0", cpu=3, priority_class="mid")
    world.gang("urgent", pods=1, cpu=3, priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert world.victims() == ["large-0"]


@BOTH
def test_room_without_an_eviction_comes_first(conf: str) -> None:
    world = cluster(conf, cpu=2, nodes=3)
    world.running("a", on=["n-0", "n-0", "n-1", "n-1", "n-2"], cpu=1, priority_class="low")
    world.gang("urgent", pods=2, cpu=1, priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 1
    assert world.placed("urgent") == 2


@BOTH
def test_a_gang_that_does_not_make_it_evicts_nobody(conf: str) -> None:
    world = cluster(conf)
    world.running("a", on="n-0", cpu=1, priority_class="low")
    world.running("b", on="n-0", cpu=1, priority_class="low")
    world.gang("too-big", pods=3, cpu=1, priority_class="high", min_resources=None)

    world.play(5)

    assert world.victims() == []
    assert not any(world.nominated(f"too-big-{number}") for number in range(3))


@BOTH
def test_victims_that_ignore_their_deletion_are_not_joined_by_others(conf: str) -> None:
    world = cluster(conf, nodes=2, leave_after=None)
    world.running("a", on=["n-0", "n-0", "n-1", "n-1"], cpu=1, priority_class="low")
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)

    world.play(200)
    assert len(world.victims()) == 1

    world.leave_after = 0
    world.play(3)
    assert world.placed("urgent") == 1


@BOTH
def test_a_port_that_its_victim_still_holds_is_worth_no_second_victim(conf: str) -> None:
    world = cluster(conf, cpu=4, nodes=2, leave_after=None)
    world.running("a", on=["n-0", "n-1"], cpu=1, ports=[8080], priority_class="low")
    world.gang("urgent", pods=1, cpu=1, ports=[8080], priority_class="high", min_resources=None)

    world.play(20)
    assert len(world.victims()) == 1

    world.leave_after = 0
    world.play(3)
    assert world.placed("urgent") == 1


@BOTH
def test_a_nomination_that_came_to_nothing_holds_nobody_up(conf: str) -> None:
    world = cluster(conf, nodes=2)
    world.running("a", on=["n-0", "n-0", "n-1", "n-1"], cpu=1, priority_class="low")
    urgent = world.gang("urgent", pods=2, cpu=1, priority_class="high", min_resources=None)
    urgent.pods[0]["status"]["nominatedNodeName"] = "gone"
    urgent.pods[1]["status"]["nominatedNodeName"] = "n-1"

    world.play_until_quiet()

    assert len(world.victims()) == 2
    assert world.placed("urgent") == 2


@pytest.mark.parametrize("conf", [SHIPPED, TOPOLOGY_AWARE, LOOSE], ids=["normal", "topology-aware", "share votes"])
def test_jobs_of_equal_priority_never_preempt_each_other(conf: str) -> None:
    world = cluster(conf)
    world.running("a", on="n-0", pods=2, cpu=1, priority_class="mid")
    world.gang("same", pods=1, cpu=1, priority_class="mid", min_resources=None)

    world.play(5)

    assert world.victims() == []


def test_critical_pods_stay_whatever_the_tiers_say() -> None:
    world = cluster(LOOSE)
    world.running("system", on="n-0", cpu=1, namespace="kube-system", priority_class="low")
    world.running("vital", on="n-0", cpu=1, priority_class="system-node-critical")
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)

    world.play(5)

    assert world.victims() == []


def test_the_queue_next_door_is_left_alone() -> None:
    world = cluster(nodes=2)
    world.queue("q1")
    world.queue("q2")
    world.running("mine", on="n-0", pods=2, cpu=1, queue="q1", priority_class="low")
    world.running("other", on="n-1", pods=2, cpu=1, queue="q2", priority_class="low")
    world.gang("urgent", pods=1, cpu=1, queue="q1", priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 1
    assert world.victims()[0].startswith("mine")


@BOTH
def test_the_one_in_the_way_goes_and_not_the_bystander_of_lower_priority(conf: str) -> None:
    world = cluster(conf, cpu=4)
    world.running("bystander", on="n-0", cpu=1, priority_class="low")
    world.running("blocker", on="n-0", cpu=1, priority_class="mid", labels={"app": "blocker"})
    affinity = apart_from("blocker")
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None, affinity=affinity)

    world.play_until_quiet()

    assert world.victims() == ["blocker-0"]
    assert world.placed("urgent") == 1


# ---------------------------------------------------------------- gangs


@BOTH
def test_pods_that_their_gang_can_spare_go_first(conf: str) -> None:
    world = cluster(conf, cpu=4)
    world.running("strict", on="n-0", pods=2, cpu=1, min_member=2, priority_class="low")
    world.running("elastic", on="n-0", pods=2, cpu=1, min_member=1, priority_class="mid")
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 1
    assert world.placed("elastic") == 1


@BOTH
def test_a_gang_that_cannot_spare_a_pod_goes_whole_and_is_told_so(conf: str) -> None:
    world = cluster(conf, nodes=2)
    world.running("strict", on=["n-0", "n-0", "n-1", "n-1"], cpu=1, min_member=4, priority_class="low")
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert sorted(world.victims()) == [f"strict-{number}" for number in range(4)]
    assert world.placed("strict") == 0
    assert "goes whole, it would fall below its minimum of 4" in world.evictions()[0].reason
    assert 'vcsched_gangs_evicted_total{action="preempt"} 1.0' in world.scheduler.metrics.exposition().decode()


@BOTH
def test_of_two_gangs_the_smaller_one_is_lost(conf: str) -> None:
    world = cluster(conf, cpu=3, nodes=2)
    world.running("three", on=["n-0", "n-0", "n-0"], cpu=1, min_member=3, priority_class="low")
    world.running("two", on=["n-1", "n-1"], cpu=1, min_member=2, priority_class="low")
    world.running("fill", on="n-1", cpu=1, priority_class="high")
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert {name.partition("-")[0] for name in world.victims()} == {"two"}


@BOTH
def test_a_member_that_may_not_go_saves_its_gang(conf: str) -> None:
    world = cluster(conf, nodes=2)
    kept = {"volcano.sh/preemptable": "false"}
    strict = world.running("strict", on=["n-0", "n-0", "n-1", "n-1"], cpu=1, min_member=4, priority_class="low")
    strict.pods[3]["metadata"]["annotations"] |= kept
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)

    world.play(5)

    assert world.victims() == []


def test_a_budget_saves_a_gang_that_it_does_not_cover_whole() -> None:
    world = cluster(SHIPPED.replace("- name: conformance\n", "- name: conformance\n  - name: pdb\n"), nodes=2)
    labels = {"app": "strict"}
    world.disruption_budget("b", labels, allowed=3)
    world.running("strict", on=["n-0", "n-0", "n-1", "n-1"], cpu=1, min_member=4, priority_class="low", labels=labels)
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)

    world.play(5)

    assert world.victims() == []


# ---------------------------------------------------------------- promises


def test_room_made_for_a_job_is_not_taken_by_one_that_stands_before_it() -> None:
    world = cluster(CAPACITY, leave_after=2)
    world.queue("lent", deserved={"cpu": 1})
    world.queue("first", priority=9, deserved={"cpu": 1})
    world.running("low", on="n-0", pods=2, cpu=1, queue="lent", priority_class="low")
    world.gang("urgent", pods=1, cpu=1, queue="lent", priority_class="high", min_resources=None)
    world.play()
    assert len(world.victims()) == 1
    world.gang("newcomer", pods=1, cpu=1, queue="first", priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert [each.beneficiary for each in world.evictions()] == ["default/urgent", "default/newcomer"]
    assert world.placed("urgent") == 1
    assert world.placed("newcomer") == 1


def test_the_whole_gang_is_nominated_also_where_room_was_free() -> None:
    world = cluster(nodes=2, leave_after=3)
    world.running("low", on=["n-0", "n-0", "n-1"], cpu=1, priority_class="low")
    world.gang("urgent", pods=2, cpu=1, priority_class="high", min_resources=None)

    world.play()

    assert len(world.victims()) == 1
    assert all(world.nominated(f"urgent-{number}") for number in range(2))


@BOTH
def test_who_went_for_an_earlier_pod_is_given_back_when_a_later_one_makes_room_for_both(conf: str) -> None:
    world = cluster(conf, cpu=3)
    world.running("small", on="n-0", cpu=1, priority_class="low")
    world.running("large", on="n-0", cpu=2, priority_class="mid")
    world.gang("urgent", pods=2, cpu=1, priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert world.victims() == ["large-0"]
    assert world.placed("urgent") == 2
