"""Gangs of queues that hold too much: who goes first, and what is left of their queue (design-notes §7 row 26)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.actions.playing import LiveWorld
from tests.actions.situations import CAPACITY, CAPACITY_ONE_TIER, LOOSE, SHIPPED

CONFS = {"shipped": SHIPPED, "loose": LOOSE, "capacity": CAPACITY, "capacity in one tier": CAPACITY_ONE_TIER}
ALL = pytest.mark.parametrize("conf", CONFS)
WITH_CAPACITY = pytest.mark.parametrize("conf", ["capacity", "capacity in one tier"])


def cluster(conf: str, *, nodes: int = 1, cpu: int = 4, **options: Any) -> LiveWorld:
    world = LiveWorld(CONFS[conf], **options)
    for name, value in (("low", 10), ("mid", 50), ("high", 100)):
        world.priority_class(name, value)
    world.nodes(nodes, cpu=cpu)
    return world


@ALL
@pytest.mark.parametrize("older", ["gang", "single"])
def test_a_pod_that_can_be_spared_goes_before_a_gang_whoever_is_older(conf: str, older: str) -> None:
    world = cluster(conf, cpu=3)
    world.queue("rich", deserved={"cpu": 2})
    world.queue("poor", deserved={"cpu": 1})
    for name in sorted(["gang", "single"], key=lambda name: name != older):
        pods = 2 if name == "gang" else 1
        world.running(name, on="n-0", pods=pods, cpu=1, min_member=pods, queue="rich", priority_class="low")
        world.tick()
    world.gang("more", cpu=1, queue="rich", priority_class="low", min_resources=None)
    world.gang("p", cpu=1, queue="poor", priority_class="low", min_resources=None)

    world.play_until_quiet()

    assert world.victims() == ["single-0"]
    assert world.placed("p") == 1


@ALL
def test_what_an_elastic_gang_has_beyond_its_minimum_goes_and_no_more(conf: str) -> None:
    world = cluster(conf, cpu=4)
    world.queue("rich", deserved={"cpu": 2})
    world.queue("poor", deserved={"cpu": 2})
    world.running("elastic", on="n-0", pods=4, cpu=1, min_member=2, queue="rich", priority_class="low")
    for number in range(3):
        world.gang(f"p{number}", cpu=1, queue="poor", priority_class="low", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 2
    assert world.placed("elastic") == 2


@WITH_CAPACITY
@pytest.mark.parametrize("nodes", [1, 2], ids=["on one node", "on two nodes"])
def test_a_gang_whose_queue_keeps_its_share_goes_before_one_of_lower_priority(conf: str, nodes: int) -> None:
    world = cluster(conf, nodes=nodes, cpu=8 // nodes)
    last = f"n-{nodes - 1}"
    world.queue("a", deserved={"cpu": 2})
    world.queue("b", deserved={"cpu": 2})
    world.queue("poor", deserved={"cpu": 2})
    kept = {"volcano.sh/preemptable": "false"}
    world.running("a-gang", on="n-0", pods=3, cpu=1, min_member=3, queue="a", priority_class="low")
    world.running("filler", on="n-0", cpu=1, queue="default", priority_class="low", annotations=kept)
    world.running("b-gang", on=last, pods=2, cpu=1, min_member=2, queue="b", priority_class="mid")
    world.running("b-base", on=last, pods=2, cpu=1, min_member=1, queue="b", priority_class="mid", annotations=kept)
    world.gang("p", cpu=1, queue="poor", priority_class="low", min_resources=None)

    world.play_until_quiet()

    assert sorted(world.victims()) == ["b-gang-0", "b-gang-1"]
    assert world.placed("p") == 1


@ALL
def test_a_gang_goes_below_its_share_where_nothing_else_gives_what_another_queue_deserves(conf: str) -> None:
    """It holds what it borrowed only as a whole, and so it gives it back as a whole; and does not take it again."""
    world = cluster(conf, cpu=4)
    world.queue("rich", deserved={"cpu": 3})
    world.queue("poor", deserved={"cpu": 1})
    world.running("gang", on="n-0", pods=4, cpu=1, min_member=4, queue="rich", priority_class="low")
    world.gang("p", cpu=1, queue="poor", priority_class="low", min_resources=None)

    world.play_until_quiet()

    assert len(world.victims()) == 4
    assert world.placed("p") == 1


@ALL
def test_a_gang_at_its_share_stays_whole(conf: str) -> None:
    world = cluster(conf, cpu=4)
    world.queue("rich", deserved={"cpu": 2})
    world.queue("poor", deserved={"cpu": 2})
    world.running("gang", on="n-0", pods=2, cpu=1, min_member=2, queue="rich", priority_class="low")
    world.running("other", on="n-0", pods=2, cpu=1, min_member=2, queue="poor", priority_class="low")
    world.gang("p", cpu=1, queue="poor", priority_class="high", min_resources=None)
    world.gang("r", cpu=1, queue="rich", priority_class="high", min_resources=None)

    world.play(10)

    assert {each.reason.partition(":")[0] for each in world.evictions()} <= {"preempt"}


@ALL
def test_who_went_before_a_gang_that_makes_room_for_all_is_given_back(conf: str) -> None:
    world = cluster(conf, nodes=2, cpu=2)
    world.queue("rich", deserved={"cpu": 2})
    world.queue("poor", deserved={"cpu": 2})
    world.running("gang", on=["n-0", "n-0", "n-1"], cpu=1, min_member=3, queue="rich", priority_class="low")
    world.running("single", on=["n-1"], cpu=1, queue="rich", priority_class="low")
    world.gang("p", pods=2, cpu=1, queue="poor", priority_class="high", min_resources=None)

    world.play_until_quiet()

    assert sorted(world.victims()) == ["gang-0", "gang-1", "gang-2"]
    assert world.placed("p") == 2
