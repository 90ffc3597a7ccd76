"""overcommit: admission up to a little more than the cluster (spec 05 §11.1, §20.7)."""

from __future__ import annotations

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import world_with
from vcsched.kube.link import Event


def world_of(factor: object = None) -> SessionWorld:
    arguments = "" if factor is None else f" {{overcommit-factor: {factor}}}"
    world = world_with(f"overcommit{arguments}", actions="enqueue")
    world.node("n1", cpu=2, memory="4Gi")
    world.node("n2", cpu=4, memory="16Gi")
    return world


def test_a_gang_that_was_admitted_before_and_one_in_this_session_hold_their_minima() -> None:
    world = world_of()
    world.gang("before", pods=2, cpu=1, memory="1Gi", phase="Inqueue")
    world.gang("now", pods=2, cpu=1, memory="1Gi")
    world.gang("asks", pods=3, cpu=1, memory="1Gi")
    ssn = world.open()
    now, asks = world.job("now"), world.job("asks")

    assert ssn.job_enqueueable(now)
    assert ssn.job_enqueueable(asks)  # 2 + 3 of 7.2
    ssn.job_enqueued(now)
    assert ssn.job_enqueueable(now)  # 2 + 2 + 2 of 7.2
    ssn.job_enqueued(now)
    assert not ssn.job_enqueueable(asks)


def test_a_gang_beyond_the_enlarged_cluster_is_refused_with_numbers() -> None:
    world = world_of()
    world.running("runs", on="n2", cpu=3)
    world.gang("huge", pods=20, cpu=1, memory="1Gi")

    world.session()

    assert world.job("huge").refusal == (
        "admission",
        "cluster at its limit: cpu 3 of 7200m (the cluster times 1.2) used or promised, 20 asked",
    )
    (event,) = refusals(world)
    assert event.message.startswith(
        "resource in cluster is overused: overused cpu — cluster at its limit: cpu 3 of 7200m"
    )


def test_a_refusal_is_an_event_when_it_is_new_and_every_five_minutes() -> None:
    world = world_of()
    world.gang("huge", pods=20, cpu=1, memory="1Gi")

    for _ in range(3):
        world.scheduler.cache.picture.changes += 1
        world.session()
    assert len(refusals(world)) == 1

    world.now += 301
    world.scheduler.cache.picture.changes += 1
    world.session()
    assert len(refusals(world)) == 2


def test_a_gang_without_minimum_resources_is_not_refused() -> None:
    world = world_of()
    world.gang("unknown", pods=20, cpu=1, min_resources=None)
    ssn = world.open()

    assert ssn.job_enqueueable(world.job("unknown"))


def test_resources_that_are_not_asked_for_do_not_matter() -> None:
    world = world_of()
    world.running("full", on="n1", memory="100Gi")
    world.gang("small", cpu=1)
    ssn = world.open()

    assert ssn.job_enqueueable(world.job("small"))


@pytest.mark.parametrize("factor", [0.8, ".nan", "text"])
def test_a_factor_below_one_or_that_is_no_number_counts_as_the_default(factor: object) -> None:
    world = world_of(factor)
    world.gang("fits", pods=7, cpu=1)
    world.gang("not", pods=8, cpu=1)
    ssn = world.open()

    assert ssn.job_enqueueable(world.job("fits"))
    assert not ssn.job_enqueueable(world.job("not"))


def test_what_gated_pods_ask_is_not_held_for_an_admitted_gang() -> None:
    world = world_of()
    world.gang("gated", pods=4, cpu=1, gates=["wait"])
    world.gang("asks", pods=7, cpu=1)
    ssn = world.open()

    ssn.job_enqueued(world.job("gated"))

    assert ssn.job_enqueueable(world.job("asks"))


def refusals(world: SessionWorld) -> list[Event]:
    return [event for event in world.events("Unschedulable") if event.type == "Normal"]
