"""tdm: revocable nodes and their hours (spec 05 §14-15, §20.7)."""

from __future__ import annotations

import logging
import time
from typing import Any

import numpy as np
import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import tasks, world_with
from vcsched.plugins.tdm.disruption import count_of, most_evictions

ZONE = "volcano.sh/revocable-zone"
NOON = time.mktime(time.strptime("2027-03-10 12:00:00", "%Y-%m-%d %H:%M:%S"))
DAY, NIGHT = "8:00-18:00", "20:00-7:00"
MAY_MOVE = {"annotations": {ZONE: "*"}}


def world_of(*, actions: str = "allocate", **hours: str) -> SessionWorld:
    """A world at noon; `hours` are those of the zones. Nodes: `plain`, and one for each zone."""
    listed = ", ".join(f'tdm.revocable-zone.{zone}: "{text}"' for zone, text in hours.items())
    world = world_with(f"tdm {{{listed}}}", actions=actions)
    world.now = NOON
    world.node("plain", cpu=8)
    for zone in hours:
        world.node(zone, cpu=8, labels={ZONE: zone})
    return world


def refusals(world: SessionWorld, gang: str) -> dict[str, str]:
    """Node -> why it does not take the gang's first pod; fitting nodes are left out."""
    ssn = world.open()
    ask = ssn.pipeline.ask(tasks(world, gang)[0])
    found = {name: ssn.pipeline.reasons_at(ask, node.row, room=False) for name, node in ssn.nodes.items()}
    return {name: reasons[0][1] for name, reasons in found.items() if reasons}


def test_revocable_nodes_take_pods_that_allow_it_in_the_hours_of_their_zone() -> None:
    world = world_of(rz1=DAY, rz2=NIGHT)
    world.node("unknown", cpu=8, labels={ZONE: "rz3"})
    world.gang("moves", cpu=1, **MAY_MOVE)
    world.gang("stays", cpu=1)
    beyond = f"current time beyond revocable zone rz2:{NIGHT}"
    elsewhere = "revocable zone rz3 not support"

    assert refusals(world, "moves") == {"rz2": beyond, "unknown": elsewhere}
    assert refusals(world, "stays") == {
        "rz1": "not allow to dispatch to revocable node",
        "rz2": beyond,
        "unknown": elsewhere,
    }


def test_a_pod_that_may_move_prefers_revocable_nodes() -> None:
    world = world_of(rz1=DAY)
    world.gang("moves", cpu=1, **MAY_MOVE)
    world.gang("stays", cpu=1)
    ssn = world.open()

    scores = {
        gang: ssn.pipeline.scores(ssn.pipeline.ask(tasks(world, gang)[0]), np.array([0, 1])).tolist()
        for gang in ("moves", "stays")
    }

    assert scores == {"moves": [0.0, 100.0], "stays": [0.0, 0.0]}


def test_a_waiting_pod_is_placed_when_the_hours_begin() -> None:
    world = world_of(night="22:00-6:00")
    world.gang("moves", pods=10, min_member=10, cpu=1, **MAY_MOVE)
    world.session()
    assert world.bound("moves") == 8  # on the ordinary node

    world.now += 10 * 3600
    world.session()

    assert world.bound("moves") == 10


def test_a_node_that_is_lent_later_is_seen() -> None:
    world = world_of(rz1=NIGHT)
    world.gang("moves", pods=10, min_member=10, cpu=1, **MAY_MOVE)
    world.session()
    assert world.bound("moves") == 8  # on the ordinary node

    node = world.get("Node", "rz1")
    node["metadata"]["labels"] = {}
    world.upsert([node])
    world.session()

    assert world.bound("moves") == 10


# -------------------------------------------------------------------- victims


def shuffled(pods: int = 5, *, firm: int = 0, groups: dict[str, str] | None = None, hours: str = NIGHT) -> int:
    """How many of these pods, which run in a zone, shuffle evicts; the first `firm` must stay."""
    world = world_of(actions="shuffle", rz1=hours)
    gang = world.running("runs", on="rz1", pods=pods, cpu=1, group_annotations=groups)
    for pod in gang.pods[:firm]:
        pod["metadata"]["annotations"]["volcano.sh/preemptable"] = "false"
    world.session()
    return len(world.evicted())


@pytest.mark.parametrize(
    ("groups", "evicted"),
    [
        ({"volcano.sh/jdb-max-unavailable": "30%"}, 2),
        ({"volcano.sh/jdb-max-unavailable": "3"}, 3),
        ({"volcano.sh/jdb-max-unavailable": "99%"}, 5),
        ({"volcano.sh/jdb-min-available": "3"}, 2),
        ({"volcano.sh/jdb-min-available": "30%"}, 3),
        ({"volcano.sh/jdb-min-available": "3", "volcano.sh/jdb-max-unavailable": "1"}, 2),
        ({"volcano.sh/jdb-min-available": "many"}, 5),
        (None, 1),
    ],
)
def test_when_the_hours_are_over_pods_go_as_the_budget_of_their_job_allows(
    groups: dict[str, str] | None, evicted: int
) -> None:
    assert shuffled(groups=groups) == evicted


def test_pods_that_must_stay_are_not_shuffled() -> None:
    assert shuffled(firm=2, groups={"volcano.sh/jdb-max-unavailable": "5"}) == 3


def test_in_its_hours_nobody_leaves_a_zone() -> None:
    assert shuffled(groups={"volcano.sh/jdb-max-unavailable": "5"}, hours=DAY) == 0


def test_pods_that_are_missing_already_count_against_the_budget() -> None:
    world = world_of(rz1=NIGHT)
    world.gang(
        "job", pods=5, on=["rz1", "rz1"], cpu=1, group_annotations={"volcano.sh/jdb-max-unavailable": "4"}, **MAY_MOVE
    )
    world.sync()

    assert most_evictions(world.job("job")) == 1


def test_evictions_come_once_in_a_period() -> None:
    world = world_of(actions="shuffle", rz1=NIGHT)
    world.running("runs", on="rz1", pods=5, cpu=1)
    evicted = []
    for _ in range(4):
        world.session()
        evicted.append(len(world.evicted()))
        world.now += 30

    assert evicted == [1, 1, 2, 2]


def test_a_zone_with_hours_that_cannot_be_read_takes_no_pods_and_loses_none(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        world = world_of(actions="shuffle", rz1="8:00_18:00")
        world.gang("moves", cpu=1, **MAY_MOVE)
        world.running("runs", on="rz1", pods=2, cpu=1)
        assert refusals(world, "moves") == {"rz1": "revocable zone 8:00_18:00 format error"}
        world.session()

    assert world.evicted() == []
    assert "tdm.revocable-zone.rz1 is '8:00_18:00', not hours" in caplog.text


@pytest.mark.parametrize(
    ("preemptor", "victims"),
    [({"annotations": {"volcano.sh/preemptable": "false"}}, 1), (MAY_MOVE, 0), ({}, 0)],
    ids=["must stay", "may be revoked", "preemptable"],
)
def test_pods_that_must_stay_push_preemptable_ones_off_ordinary_nodes(preemptor: Any, victims: int) -> None:
    world = world_of(rz1=DAY)
    world.running("ordinary", on="plain", pods=2, cpu=1)
    world.running("lent", on="rz1", pods=2, cpu=1, **MAY_MOVE)
    world.gang("asks", cpu=1, **preemptor)
    ssn = world.open()
    found = ssn.preemptable(tasks(world, "asks")[0], [*tasks(world, "lent"), *tasks(world, "ordinary")])

    assert found == tasks(world, "ordinary")[:victims]


# -------------------------------------------------------------------- jobs


def test_jobs_that_must_not_be_interrupted_go_first_and_starve_while_a_pod_waits() -> None:
    world = world_of(rz1=DAY)
    world.gang("soft", cpu=1, group_annotations={"volcano.sh/preemptable": "true"})
    world.gang("firm", cpu=1)
    world.running("done", on="plain", cpu=1)
    ssn = world.open()
    soft, firm, done = (world.job(name) for name in ("soft", "firm", "done"))

    assert ssn.job_order.compare(firm, soft) < 0
    assert [ssn.job_starving(job) for job in (soft, firm, done)] == [False, True, False]
    assert [ssn.job_pipelined(job) for job in (soft, firm, done)] == [False, False, True]


@pytest.mark.parametrize(("text", "count"), [("3", 3), ("30%", 2), ("0%", 0), ("x", 0), ("x%", 0), ("-1", -1)])
def test_a_budget_is_a_number_or_a_percentage_rounded_up(text: str, count: int) -> None:
    assert count_of(text, 5) == count
