"""cdp: pods just placed are left alone for a while (spec 05 §13, §20.7)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import tasks, world_with

KEY = "volcano.sh/cooldown-time"


def world_of(seconds_ago: float, *, kind: str = "labels", **options: Any) -> SessionWorld:
    """A pod that was scheduled so long ago, with a cooldown of ten minutes, and one that evicts."""
    world = world_with("cdp", **{k: v for k, v in options.items() if k == "compatibility"})
    world.nodes(1, cpu=8)
    cooldown = options.get("cooldown", "600s")
    (pod,) = world.running("runs", on="n-0", cpu=1, **{kind: {KEY: cooldown}}).pods
    since = datetime.fromtimestamp(world.now - seconds_ago, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    pod["status"]["conditions"] = [
        {"type": "Ready", "status": "True"},
        {"type": "PodScheduled", "status": options.get("scheduled", "True"), "lastTransitionTime": since},
    ]
    pod["status"]["phase"] = options.get("phase", "Running")
    world.gang("evictor", cpu=1)
    return world


def is_free(world: SessionWorld) -> bool:
    ssn = world.open()
    evictor, candidates = tasks(world, "evictor")[0], tasks(world, "runs")
    answers = [bool(ssn.preemptable(evictor, candidates)), bool(ssn.reclaimable(evictor, candidates))]
    assert answers[0] == answers[1]
    return answers[0]


@pytest.mark.parametrize("kind", ["labels", "annotations"])
@pytest.mark.parametrize(("ago", "free"), [(100, False), (599, False), (600, True), (800, True)])
def test_a_pod_is_no_victim_until_its_cooldown_is_over(kind: str, ago: float, free: bool) -> None:
    assert is_free(world_of(ago, kind=kind)) == free


@pytest.mark.parametrize(
    "options", [{"cooldown": "often"}, {"phase": "Pending"}, {"scheduled": "False"}], ids=lambda o: next(iter(o))
)
def test_without_a_readable_time_a_running_pod_and_its_schedule_there_is_no_cooldown(options: dict[str, str]) -> None:
    assert is_free(world_of(100, **options))


def test_the_end_of_a_cooldown_is_a_time_to_look_again() -> None:
    world = world_of(100)
    ssn = world.open()

    ssn.preemptable(tasks(world, "evictor")[0], tasks(world, "runs"))

    assert ssn.wake == world.now + 500


@pytest.mark.parametrize(("scope", "free"), [("protective", False), ("all", True)])
def test_the_gang_actions_honour_it_unless_told_not_to(scope: str, free: bool) -> None:
    world = world_of(100, compatibility=f"{{gangVictimScope: {scope}}}")
    ssn = world.open()

    if free:
        assert not ssn.unified_evictable
    else:
        assert ssn.unified_evictable(None, tasks(world, "runs")) == []
