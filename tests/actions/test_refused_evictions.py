"""Evictions that the API server refuses: asked for again with pauses, and others may go meanwhile."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from tests.actions.playing import REFUSAL, LiveWorld
from tests.actions.situations import SHIPPED, TOPOLOGY_AWARE
from vcsched.actions.shuffle import Shuffle
from vcsched.cache.dumper.beyond import beyond
from vcsched.cache.dumper.values import Resources
from vcsched.framework.points import Registered

BOTH = pytest.mark.parametrize("conf", [SHIPPED, TOPOLOGY_AWARE], ids=["normal", "topology-aware"])
PAUSES_S = [1, 2, 4, 8, 16, 32, 60, 60]


def cluster(conf: str = SHIPPED, *, pods: int = 1, **options: Any) -> LiveWorld:
    """A node full of low jobs `low0` … of one pod each, and a job that needs the room of one of them."""
    world = LiveWorld(conf, **options)
    for name, value in (("low", 10), ("high", 100)):
        world.priority_class(name, value)
    world.nodes(1, cpu=pods)
    for number in range(pods):
        world.running(f"low{number}", on="n-0", cpu=1, priority_class="low", labels={"app": "low"})
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)
    return world


def asked_at(world: LiveWorld) -> list[int]:
    """The numbers of the sessions, which are a second apart, that evicted somebody."""
    return [number for number, done in enumerate(world.rounds, 1) if done.evictions]


@BOTH
def test_the_same_victim_is_asked_for_again_with_growing_pauses(conf: str) -> None:
    world = cluster(conf)
    world.refused = {"low0-0"}

    world.play(sum(PAUSES_S) + 1)

    asked = asked_at(world)
    assert [b - a for a, b in pairwise(asked)] == PAUSES_S
    assert world.placed("low0") == 1


@BOTH
def test_another_victim_goes_instead(conf: str) -> None:
    world = cluster(conf, pods=3)
    world.refused = {"low0-0", "low1-0"}

    world.play_until_quiet()

    assert world.placed("urgent") == 1
    assert world.placed("low2") == 0
    assert all(world.victims().count(name) <= 2 for name in world.refused)


def test_once_nothing_stands_against_it_the_victim_goes_and_is_as_good_as_any_other() -> None:
    world = cluster()
    world.refused = {"low0-0"}
    world.play(4)
    world.refused = set()

    world.play(8)

    assert world.placed("urgent") == 1
    assert world.cache.evictor.ledger.refusals == {}
    assert world.evictions()[-1].outcome == "deleted"


def test_a_gang_with_a_member_that_was_refused_is_left_whole() -> None:
    world = LiveWorld(SHIPPED)
    for name, value in (("low", 10), ("mid", 50), ("high", 100)):
        world.priority_class(name, value)
    world.nodes(2, cpu=2)
    world.running("gang", on=["n-0", "n-0"], cpu=1, min_member=2, priority_class="low")
    world.running("single", on=["n-1", "n-1"], cpu=1, min_member=1, priority_class="high")
    world.sync()
    evictor = world.cache.evictor
    for _ in range(2):
        evictor.ledger.refused(world.task("gang-1"), REFUSAL, world.now + 1)
    world.gang("urgent", pods=1, cpu=1, priority_class="high", min_resources=None)

    world.play(2)
    assert world.victims() == []

    world.play(3)
    assert sorted(world.victims()) == ["gang-0", "gang-1"]


def test_reclaim_leaves_it_alone_as_well() -> None:
    world = LiveWorld(SHIPPED)
    world.priority_class("low", 10)
    world.nodes(2, cpu=2)
    world.queue("rich")
    world.queue("poor")
    world.running("r", on=["n-0", "n-0", "n-1", "n-1"], cpu=1, queue="rich", min_member=1, priority_class="low")
    world.gang("p", pods=2, cpu=1, queue="poor", priority_class="low", min_resources=None)
    world.refused = {"r-0"}

    world.play_until_quiet()

    assert world.placed("p") == 2
    assert world.placed("r") == 2
    assert world.victims().count("r-0") <= 2


def test_shuffle_leaves_it_alone_as_well() -> None:
    world = LiveWorld(SHIPPED)
    world.nodes(1, cpu=2)
    world.running("a", on="n-0", pods=2, cpu=1, min_member=1)
    world.sync()
    for _ in range(2):
        world.cache.evictor.ledger.refused(world.task("a-0"), REFUSAL, world.now)
    ssn = world.open()
    ssn.victim_tasks.registered.append(Registered("somebody", 0, lambda tasks: tasks))

    Shuffle().execute(ssn)
    ssn.close()

    assert [each.pod for each in world.cache.evictor.ledger.latest] == ["default/a-1"]


def test_a_pod_of_the_same_name_is_not_the_one_that_was_refused() -> None:
    world = cluster(come_back=False)
    world.refused = {"low0-0"}
    world.play(3)
    world.vanish("low0-0")
    world.refused = set()
    world.running("low0", on="n-0", cpu=1, priority_class="low")

    world.play(1)

    assert asked_at(world) == [1, 2, 4]


# ---------------------------------------------------------------- what can be seen of it


def test_the_dump_says_who_was_refused_why_and_until_when() -> None:
    world = cluster()
    world.refused = {"low0-0"}
    world.play(2)

    shown = beyond(world.cache, Resources(world.cache.picture.space))

    assert [each["Outcome"] for each in shown["Evictions"]] == [REFUSAL, REFUSAL]
    assert shown["EvictionsRefused"] == {"default/low0-0": {"Times": 2, "NotBefore": world.now + 2, "Reason": REFUSAL}}


def test_who_needs_the_room_is_told_and_nobody_is_called_evicted(caplog: pytest.LogCaptureFixture) -> None:
    world = cluster()
    world.refused = {"low0-0"}

    world.play(2)

    world.writes.extend(world.cache.link.take())
    said = [each for each in world.events("EvictionRefused") if each.about.name == "urgent"]
    refused = f"pod default/low0-0 could not be evicted: {REFUSAL}"
    assert [each.message for each in said] == [
        f"{refused}; it is tried once more",
        f"{refused}; it is left alone for 2 s",
    ]
    assert all(each.message in caplog.text for each in said)
    assert world.events("Evict") == []


def test_a_pod_that_stays_is_as_ready_as_it_was() -> None:
    world = cluster()
    pod = world.get("Pod", "low0-0")
    pod["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    world.refused = {"low0-0"}

    world.play(3)

    shown = {each["type"]: each for each in world.get("Pod", "low0-0")["status"]["conditions"]}
    assert shown["Ready"]["status"] == "True"
    assert (shown["DisruptionTarget"]["status"], shown["DisruptionTarget"]["message"]) == (
        "False",
        "the eviction was refused",
    )


def test_the_room_that_is_not_made_is_promised_to_nobody() -> None:
    world = cluster()
    world.refused = {"low0-0"}

    world.play(6)

    assert world.nominated("urgent-0") == ""
