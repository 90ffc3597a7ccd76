"""What jobs add to the reserved sums of their queue (spec 05 §1.2, §11.1)."""

from __future__ import annotations

import pytest

from tests.harness import SessionWorld

SUMS = ("inqueue", "admitted", "running_reserve", "elastic")


@pytest.fixture
def world() -> SessionWorld:
    world = SessionWorld()
    world.nodes(1, cpu=20)
    return world


def sums(world: SessionWorld) -> dict[str, float]:
    """Milli-cpu of each sum of the queue `default`."""
    world.sync()
    world.cache.begin_session()
    table, queue = world.cache.picture.queue_table, world.cache.picture.queues["default"]
    return {name: float(getattr(table, name)[0, queue.row]) for name in SUMS}


@pytest.mark.parametrize(
    ("phase", "placed", "expected"),
    [
        pytest.param("Pending", 0, {}, id="not admitted: nothing"),
        pytest.param("Inqueue", 0, {"inqueue": 3000, "admitted": 3000}, id="admitted: the minimum"),
        pytest.param(
            "Inqueue", 2, {"inqueue": 1000, "admitted": 3000}, id="admitted and partly placed: what is missing, or all"
        ),
        pytest.param("Running", 3, {}, id="running in full: nothing"),
        pytest.param("Running", 4, {"elastic": 1000}, id="running with more than the minimum"),
        pytest.param("Running", 2, {}, id="running with too few pods: it may be over"),
        pytest.param("Unknown", 2, {}, id="in another phase: nothing"),
    ],
)
def test_what_a_job_reserves_depends_on_its_phase_and_what_it_holds(
    world: SessionWorld, phase: str, placed: int, expected: dict[str, float]
) -> None:
    world.gang("job", pods=5, min_member=3, cpu=1, phase=phase, on=["n-0"] * placed)

    assert sums(world) == dict.fromkeys(SUMS, 0) | expected


def test_a_running_job_with_its_minimum_of_pods_reserves_what_its_resources_lack(world: SessionWorld) -> None:
    world.gang("job", pods=2, min_member=2, cpu=1, phase="Running", on="n-0", min_resources={"cpu": 5})

    assert sums(world) == {"inqueue": 3000, "admitted": 0, "running_reserve": 3000, "elastic": 0}


def test_without_minimum_resources_all_is_elastic(world: SessionWorld) -> None:
    world.gang("job", pods=2, cpu=1, phase="Inqueue", on=["n-0"], min_resources=None)

    assert sums(world) == {"inqueue": 0, "admitted": 0, "running_reserve": 0, "elastic": 1000}


def test_gated_pods_take_nothing_from_the_queue(world: SessionWorld) -> None:
    world.gang("job", pods=3, cpu=1, phase="Inqueue", gates=["wait"], min_resources={"cpu": 4})

    assert sums(world)["inqueue"] == 1000
    assert sums(world)["admitted"] == 1000


def test_the_sums_follow_jobs_that_change_and_go(world: SessionWorld) -> None:
    gang = world.gang("job", pods=3, cpu=1, phase="Inqueue")
    other = world.gang("other", pods=1, cpu=1, phase="Inqueue")
    assert sums(world)["inqueue"] == 4000

    gang.group["status"]["phase"] = "Pending"
    world.upsert([gang.group])
    assert sums(world)["inqueue"] == 1000

    for obj in (*other.pods, other.group):
        world.delete(obj)
    assert sums(world) == dict.fromkeys(SUMS, 0)
