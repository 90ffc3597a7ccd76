"""resourcequota: gangs must fit the quotas of their namespace (spec 05 §11.3, §20.7)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import world_with

Amounts = Mapping[str, int | str]


@pytest.fixture
def world() -> SessionWorld:
    world = world_with("resourcequota", actions="enqueue")
    world.nodes(1, cpu=100)
    return world


def quota(world: SessionWorld, hard: Amounts, used: Amounts | None = None, name: str = "q") -> None:
    """A quota whose status the quota controller has written."""
    made = world.quota(name, hard)
    made["status"] = {
        "hard": {k: str(v) for k, v in hard.items()},
        "used": {k: str(v) for k, v in (used or {}).items()},
    }


@pytest.mark.parametrize(("cpu", "phase"), [(2, "Inqueue"), (20, "Pending")])
def test_a_gang_within_the_quota_is_admitted_and_one_beyond_is_not(world: SessionWorld, cpu: int, phase: str) -> None:
    quota(world, {"cpu": 2, "memory": "2G"})
    world.gang("job", cpu=cpu)

    world.session()

    assert world.job("job").phase == phase


def test_without_a_quota_and_without_a_minimum_there_is_no_limit(world: SessionWorld) -> None:
    world.gang("free", cpu=50)
    world.session()
    quota(world, {"cpu": 1})
    world.gang("says-nothing", cpu=50, min_resources=None)
    world.session()

    assert world.job("free").phase == world.job("says-nothing").phase == "Inqueue"


def test_what_is_used_and_what_was_admitted_in_the_session_count(world: SessionWorld) -> None:
    quota(world, {"cpu": 4}, {"cpu": "1500m"})
    world.gang("first", cpu=2)
    world.gang("second", cpu=1)

    world.session()

    assert [world.job(name).phase for name in ("first", "second")] == ["Inqueue", "Pending"]


def test_only_names_that_the_quota_has_are_compared(world: SessionWorld) -> None:
    quota(world, {"requests.cpu": 1, "memory": "1Gi"})
    world.gang("job", cpu=50, memory="1Gi")

    world.session()

    assert world.job("job").phase == "Inqueue"


def test_quotas_of_other_namespaces_do_not_matter(world: SessionWorld) -> None:
    quota(world, {"cpu": 1})
    world.gang("job", cpu=2, namespace="elsewhere")

    world.session()

    assert world.job("job", "elsewhere").phase == "Inqueue"


def test_amounts_are_compared_exactly(world: SessionWorld) -> None:
    quota(world, {"memory": "20000000000000001"}, {"memory": "20000000000000000"})
    world.gang("fits", memory="1")
    world.gang("beyond", memory="1")

    world.session()

    assert [world.job(name).phase for name in ("fits", "beyond")] == ["Inqueue", "Pending"]


def test_the_refusal_names_quota_and_numbers(world: SessionWorld) -> None:
    quota(world, {"cpu": 2, "memory": "1Gi"}, {"cpu": 1}, name="team")
    world.gang("job", cpu=4, memory="1Gi")

    world.session()

    sentence = "quota team of namespace default full: cpu 1 of 2 used, 4 asked"
    assert world.job("job").refusal == ("admission", sentence)
    (event,) = [e for e in world.events("Unschedulable") if e.type == "Normal"]
    assert event.message == f"resource quota insufficient, requested: cpu=4, used: cpu=1, limited: cpu=2 — {sentence}"


def test_a_quantity_that_cannot_be_read_limits_nothing(world: SessionWorld) -> None:
    quota(world, {"cpu": "many", "memory": "1Gi"})
    world.gang("job", cpu=4, memory="2Gi")

    world.session()

    assert world.job("job").refusal == (
        "admission",
        "quota q of namespace default full: memory 0 of 1Gi used, 2Gi asked",
    )
