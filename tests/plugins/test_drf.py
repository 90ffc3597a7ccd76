"""drf, flat: shares, order, victims (spec 05 §6.1)."""

from __future__ import annotations

import itertools

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import metric, tasks, world_with


@pytest.fixture
def world() -> SessionWorld:
    world = world_with("drf")
    world.nodes(2, cpu=10, memory="10Gi", pods=100)
    return world


def test_the_job_with_the_smaller_dominant_share_goes_first(world: SessionWorld) -> None:
    world.running("memory", on="n-0", memory="6Gi")  # 0.3
    world.running("cpu", on="n-0", cpu=5)  # 0.25
    world.gang("nothing", cpu=1)
    ssn = world.open()
    jobs = [world.job(name) for name in ("nothing", "cpu", "memory")]

    assert [ssn.job_order.compare(a, b) for a, b in itertools.pairwise(jobs)] == [-1, -1]


def test_the_number_of_pods_is_a_share_too(world: SessionWorld) -> None:
    world.running("many", on="n-0", pods=40, cpu=0.01)  # 0.2 of the pods
    world.running("big", on="n-1", cpu=3)  # 0.15 of the cpu
    ssn = world.open()

    assert ssn.job_order.compare(world.job("big"), world.job("many")) < 0


def test_shares_follow_what_is_placed_and_taken_back_in_the_session(world: SessionWorld) -> None:
    world.gang("a", cpu=4)
    world.running("b", on="n-0", cpu=2)
    ssn = world.open()
    a, b = world.job("a"), world.job("b")
    assert ssn.job_order.compare(a, b) < 0

    statement = ssn.statement()
    statement.allocate(tasks(world, "a")[0], ssn.nodes["n-1"])
    assert ssn.job_order.compare(a, b) > 0

    statement.rollback()
    assert ssn.job_order.compare(a, b) < 0


def test_promised_room_is_charged(world: SessionWorld) -> None:
    world.gang("a", cpu=4)
    world.running("b", on="n-0", cpu=2)
    ssn = world.open()

    ssn.statement().pipeline(tasks(world, "a")[0], ssn.nodes["n-1"])

    assert ssn.job_order.compare(world.job("a"), world.job("b")) > 0


def test_victims_are_taken_while_their_job_stays_as_rich_as_the_preemptor_becomes(world: SessionWorld) -> None:
    world.running("rich", on="n-0", pods=4, cpu=2)
    world.gang("poor", cpu=4)
    ssn = world.open()

    victims = ssn.preemptable(tasks(world, "poor")[0], tasks(world, "rich"))

    # 0.2 for the preemptor; the victim's job keeps 0.3, then 0.2, then 0.1
    assert victims == tasks(world, "rich")[:2]


def test_a_candidate_that_is_refused_still_makes_its_job_look_poorer(world: SessionWorld) -> None:
    world.gang("rich", pods=0, min_member=1)
    for name, cpu in (("rich-big", 6), ("rich-small", 1)):
        world.pod(name, gang="rich", node="n-0", cpu=cpu)
    world.gang("poor", cpu=4)
    ssn = world.open()
    big, small = tasks(world, "rich")
    evictor = tasks(world, "poor")[0]

    assert ssn.preemptable(evictor, [small]) == [small]  # 6 of 20 stay
    assert ssn.preemptable(evictor, [big, small]) == []  # 1, then 0


def test_the_share_of_a_job_is_a_metric(world: SessionWorld) -> None:
    world.running("b", on="n-0", cpu=5)

    world.session()

    assert metric(world, 'volcano_job_share{job_id="b",job_ns="default"}') == 0.25
