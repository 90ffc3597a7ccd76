"""Gangs: valid, ready, starving, victims, and what is recorded at the end (spec 05 §3, §20.1)."""

from __future__ import annotations

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import metric, tasks, world_with
from vcsched.framework.points import EvictionContext
from vcsched.kube.link import Bind
from vcsched.model.status import RELEASING
from vcsched.simulator.world import role


@pytest.fixture
def world() -> SessionWorld:
    world = world_with("gang")
    world.nodes(1, cpu=10)
    return world


def test_a_gang_with_fewer_pods_than_its_minimum_is_invalid(world: SessionWorld) -> None:
    world.gang("short", pods=2, min_member=3)
    ssn = world.open()

    invalid = ssn.job_valid(world.job("short"))

    assert invalid.reason == "NotEnoughTasks"
    assert invalid.message == "Not enough valid tasks for gang-scheduling, valid: 2, min: 3"


def test_a_gang_with_too_few_pods_of_a_role_is_invalid(world: SessionWorld) -> None:
    world.gang("roles", min_member=3, roles={"ps": role(1, min_member=2), "worker": role(2, min_member=1)})
    ssn = world.open()

    invalid = ssn.job_valid(world.job("roles"))

    assert invalid.reason == "NotEnoughPodsOfTask"


def test_minima_of_roles_are_off_when_the_gang_asks_for_less_than_their_sum(world: SessionWorld) -> None:
    world.gang("roles", min_member=2, roles={"ps": role(1, min_member=2), "worker": role(2, min_member=1)})
    ssn = world.open()

    assert ssn.job_valid(world.job("roles")) is None


def test_a_gang_whose_roles_are_not_all_there_is_not_ready(world: SessionWorld) -> None:
    world.gang("roles", min_member=2, on="n-0", roles={"ps": role(2, min_member=1), "worker": role(0, min_member=1)})
    ssn = world.open()
    job = world.job("roles")

    assert job.is_ready()
    assert not ssn.job_ready(job)
    assert not ssn.job_pipelined(job)


def test_best_effort_pods_count_for_readiness_but_a_gang_of_them_starves(world: SessionWorld) -> None:
    world.gang("free", pods=2, min_resources=None)
    ssn = world.open()
    job = world.job("free")

    assert ssn.job_ready(job)
    assert ssn.job_starving(job)


def test_gangs_below_their_minimum_go_first(world: SessionWorld) -> None:
    world.running("full", on="n-0", pods=2, cpu=1)
    world.gang("empty", pods=2, cpu=1)
    ssn = world.open()
    full, empty = world.job("full"), world.job("empty")

    assert ssn.job_order.compare(empty, full) < 0
    assert ssn.job_order.compare(full, empty) > 0
    assert ssn.job_order.compare(full, full) == 0


def test_victims_are_taken_from_a_gang_only_down_to_its_minimum(world: SessionWorld) -> None:
    world.running("big", on="n-0", pods=4, min_member=2, cpu=1)
    world.running("exact", on="n-0", pods=1, min_member=1, cpu=1)
    world.gang("wants", pods=1, cpu=1)
    ssn = world.open()
    candidates = [*tasks(world, "exact"), *tasks(world, "big")]
    (evictor,) = tasks(world, "wants")

    for point in (ssn.preemptable, ssn.reclaimable):
        assert point(evictor, candidates) == tasks(world, "big")[:2]


def test_gang_actions_may_take_all_candidates(world: SessionWorld) -> None:
    world.running("exact", on="n-0", pods=1, cpu=1)
    ssn = world.open()
    context = EvictionContext("gangpreempt", world.job("exact"), None, "")

    assert ssn.unified_evictable(context, tasks(world, "exact")) == tasks(world, "exact")


def test_what_a_gang_lacks_is_recorded(world: SessionWorld) -> None:
    world.gang("big", pods=3, cpu=8)

    world.session()

    (condition,) = world.statuses()["default/big"].status["conditions"]
    assert (condition["type"], condition["reason"]) == ("Unschedulable", "NotEnoughResources")
    # one pod had room, in a statement that was undone
    assert condition["message"].startswith("2/3 tasks in gang unschedulable: pod group is not ready")
    assert metric(world, 'volcano_unschedule_task_count{job_id="big"}') == 2
    assert metric(world, "volcano_unschedule_job_count") == 1
    assert metric(world, 'volcano_job_retry_counts{job_id="big"}') == 1


def test_times_of_conditions_are_written_in_utc_whatever_zone_another_wrote_them_in(world: SessionWorld) -> None:
    gang = world.gang("late", pods=1, min_member=2, cpu=1)
    world.now = 1_811_111_111.0  # a time that no other test has written
    other = {"type": "Other", "status": "True", "lastTransitionTime": "2027-05-24T00:25:11+02:00"}
    gang.group["status"] = {**gang.group.get("status", {}), "conditions": [other]}

    world.session()

    times = {c["type"]: c["lastTransitionTime"] for c in world.statuses()["default/late"].status["conditions"]}
    assert times == dict.fromkeys(("Other", "Unschedulable"), "2027-05-23T22:25:11Z")


def test_a_gang_that_has_its_minimum_is_recorded_as_scheduled(world: SessionWorld) -> None:
    world.gang("small", pods=2, cpu=1)

    world.session()

    (condition,) = world.statuses()["default/small"].status["conditions"]
    assert (condition["type"], condition["reason"]) == ("Scheduled", "tasks in gang are ready to be scheduled")
    assert metric(world, 'volcano_unschedule_task_count{job_id="small"}') == 0
    assert metric(world, "volcano_unschedule_job_count") == 0


@pytest.mark.parametrize(
    ("minimum", "running", "leaving", "waiting", "written"),
    [
        pytest.param(2, 1, 1, 0, False, id="below the minimum only because a pod leaves its node"),
        pytest.param(2, 1, 1, 1, True, id="a pod leaves and another waits"),
        pytest.param(3, 1, 1, 0, True, id="below the minimum even with the pod that leaves"),
        pytest.param(1, 0, 0, 0, False, id="no pods at all"),
    ],
)
def test_a_gang_whose_pods_are_leaving_is_not_called_unschedulable(
    world: SessionWorld, minimum: int, running: int, leaving: int, waiting: int, written: bool
) -> None:
    gang = world.gang(
        "old", pods=running + leaving + waiting, min_member=minimum, on=["n-0"] * (running + leaving), phase="Running",
        cpu=20,
    )  # fmt: skip
    for pod in gang.pods[:leaving]:
        pod["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z"
    ssn = world.open()
    assert world.job("old").counts[RELEASING] == leaving

    ssn.close()

    assert any(c["type"] == "Unschedulable" for c in ssn.conditions.get("default/old", ())) == written


def test_the_count_of_unready_gangs_follows_jobs_that_go(world: SessionWorld) -> None:
    gang = world.gang("big", pods=1, cpu=20)
    world.gang("other", pods=1, cpu=20)
    world.session()
    assert metric(world, "volcano_unschedule_job_count") == 2

    for obj in (*gang.pods, gang.group):
        world.delete(obj)
    world.session()

    assert metric(world, "volcano_unschedule_job_count") == 1


def test_an_idle_session_records_nothing_again(world: SessionWorld) -> None:
    world.gang("big", pods=1, cpu=20)
    world.session()
    world.session()
    retries = metric(world, 'volcano_job_retry_counts{job_id="big"}')
    written = len(world.writes)

    world.session(3)

    assert metric(world, 'volcano_job_retry_counts{job_id="big"}') == retries
    assert len(world.writes) == written


@pytest.fixture
def torn() -> SessionWorld:
    """A gang of which an earlier scheduler bound one pod of three, and a new one that would take its room."""
    world = SessionWorld()
    world.nodes(1, cpu=4)
    world.queue("small", capability={"cpu": 3})
    world.gang("new", pods=3, cpu=1, queue="small")
    world.gang("torn", pods=3, cpu=1, queue="small", on=["n-0"])
    world.sync()
    return world


def test_a_torn_gang_is_completed_before_a_new_one_starts(torn: SessionWorld) -> None:
    [job] = torn.cache.binder.find_torn()

    torn.session(2)

    assert job.key == "default/torn"
    assert (torn.bound("torn"), torn.bound("new")) == (2, 0)
    assert not job.torn


def test_a_gang_that_only_lost_a_pod_has_no_precedence() -> None:
    world = SessionWorld()
    world.nodes(1, cpu=4)
    world.gang("lost-two", pods=3, cpu=1, on=["n-0"])
    world.gang("new", pods=3, cpu=1)

    world.session(2)

    assert (world.bound("lost-two"), world.bound("new")) == (0, 3)  # by share, as the reference does


def test_a_failed_bind_tears_a_gang(world: SessionWorld) -> None:
    world.gang("one", pods=2, cpu=1)
    world.session()

    world.reply(ok=False, status=500)

    assert len(world.of_type(Bind)) == 2
    assert world.job("one").torn
