"""sla: who has waited too long goes first (spec 05 §11.2, §20.7)."""

from __future__ import annotations

import logging

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import world_with
from vcsched.simulator.world import Gang

TEN_MINUTES = {"volcano.sh/sla-waiting-time": "10m"}


def tiers(*names: str) -> SessionWorld:
    """One plugin a tier, in this order."""
    listed = "\n".join(f"- plugins:\n  - name: {name}" for name in names)
    return SessionWorld(f'actions: "enqueue, allocate"\ntiers:\n{listed}\n')


def born(world: SessionWorld, gang: Gang, seconds_ago: float) -> None:
    """Set the clock so that the PodGroup is this old."""
    world.sync()
    world.now = world.job(gang.group["metadata"]["name"]).created + seconds_ago


def test_the_earlier_deadline_goes_first_and_who_may_wait_for_ever_last() -> None:
    world = world_with("sla")
    for name, waiting in (("soon", "1m"), ("later", "1h"), ("short-key", None), ("for-ever", None)):
        notes = {"volcano.sh/sla-waiting-time": waiting} if waiting else {}
        if name == "short-key":
            notes = {"sla-waiting-time": "30m"}
        world.gang(name, cpu=1, group_annotations=notes)
    ssn = world.open()
    ordered = [world.job(name) for name in ("soon", "short-key", "later", "for-ever")]

    for index, earlier in enumerate(ordered):
        for later in ordered[index + 1 :]:
            assert ssn.job_order.compare(earlier, later) < 0
            assert ssn.job_order.compare(later, earlier) > 0


def test_the_argument_holds_for_jobs_that_say_nothing_readable() -> None:
    world = world_with("sla {sla-waiting-time: 3m}")
    world.gang("own", cpu=1, group_annotations={"volcano.sh/sla-waiting-time": "1h"})
    world.gang("plain", cpu=1)
    world.gang("garbled", cpu=1, group_annotations={"volcano.sh/sla-waiting-time": "soon"})
    ssn = world.open()

    assert ssn.job_order.compare(world.job("plain"), world.job("own")) < 0
    assert ssn.job_order.compare(world.job("garbled"), world.job("own")) < 0


@pytest.mark.parametrize("value", ["1", "-3m", "0s", "soon"])
def test_an_unusable_argument_is_named_and_counts_as_none(value: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        world = world_with(f"sla {{sla-waiting-time: {value}}}")
        world.gang("own", cpu=1, group_annotations={"volcano.sh/sla-waiting-time": "1h"})
        world.gang("plain", cpu=1)
        ssn = world.open()

    assert "sla-waiting-time" in caplog.text
    assert ssn.job_order.compare(world.job("own"), world.job("plain")) < 0


def test_who_has_waited_too_long_is_admitted_past_the_limits_of_later_tiers() -> None:
    world = tiers("sla", "overcommit", "gang")
    world.nodes(1, cpu=1)
    gang = world.gang("huge", cpu=100, group_annotations=TEN_MINUTES)
    born(world, gang, 599)
    world.session()
    assert world.job("huge").phase == "Pending"

    world.now += 1
    world.session()

    assert world.job("huge").phase == "Inqueue"


def test_a_refusal_of_an_earlier_tier_stands() -> None:
    world = tiers("overcommit", "sla", "gang")
    world.nodes(1, cpu=1)
    gang = world.gang("huge", cpu=100, group_annotations=TEN_MINUTES)
    born(world, gang, 6000)

    world.session()

    assert world.job("huge").phase == "Pending"


def test_the_time_is_not_missed_though_the_job_is_not_asked_in_between() -> None:
    world = tiers("sla", "overcommit", "gang")
    world.nodes(1, cpu=1)
    gang = world.gang("huge", cpu=100, group_annotations=TEN_MINUTES)
    born(world, gang, 0)
    for _ in range(4):
        world.now += 149
        world.session()
        assert world.job("huge").phase == "Pending"

    world.now += 4
    world.session()

    assert world.job("huge").phase == "Inqueue"


def test_a_gang_that_has_waited_too_long_keeps_the_room_it_was_promised() -> None:
    world = tiers("sla", "gang", "predicates")
    world.nodes(1, cpu=4)
    gang = world.gang("big", pods=2, cpu=3, phase="Inqueue", group_annotations=TEN_MINUTES)
    born(world, gang, 600)
    ssn = world.open()

    assert ssn.job_pipelined(world.job("big"))
    ssn.close()
    world.now -= 1
    assert not world.open().job_pipelined(world.job("big"))
