"""capacity, queues alone: order, limits, admission, reclaim (spec 05 §8, §20.4)."""

from __future__ import annotations

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import metric, tasks, world_with
from tests.plugins.capacity.worlds import GPU, firm, world_of
from vcsched.framework.points import EvictionContext


@pytest.fixture
def world() -> SessionWorld:
    return world_of()


@pytest.mark.parametrize(("most", "bound"), [(2, 1), (1.5, 0)])
def test_a_queue_takes_tasks_up_to_its_capability(world: SessionWorld, most: float, bound: int) -> None:
    world.nodes(1, cpu=8)
    world.queue("q", capability={"cpu": most})
    world.running("runs", on="n-0", queue="q", cpu=1)
    world.gang("waits", queue="q", cpu=1, phase="Inqueue")

    world.session()

    assert world.bound("waits") == bound


def test_why_a_queue_takes_no_more_is_said_with_numbers(world: SessionWorld) -> None:
    world.nodes(1, cpu=8)
    world.queue("q", capability={"cpu": 2})
    world.running("runs", on="n-0", queue="q", cpu=1)
    world.gang("waits", queue="q", cpu=2, phase="Inqueue")

    world.session()

    assert world.why("waits") == (
        "queue q at its limit: cpu 1 of 2 used, 2 asked; raise the capability of queue q by cpu 1"
    )


def test_only_what_is_asked_for_is_compared(world: SessionWorld) -> None:
    world.nodes(2, cpu=3, memory="3Gi")
    world.queue("q", deserved={"cpu": 2, "memory": "2Gi"}, capability={"cpu": 2, "memory": "2Gi"})
    world.running("runs", on="n-0", queue="q", cpu=1, memory="3Gi")
    world.gang("cpu-only", queue="q", cpu=1)
    world.gang("both", queue="q", cpu=1, memory="1Gi")

    world.session()

    assert world.bound("cpu-only") == 1
    assert world.job("both").phase == "Pending"


def test_a_gang_larger_than_its_queues_capability_is_told_so_at_once(world: SessionWorld) -> None:
    world.nodes(4, cpu=8)
    world.queue("q", capability={"cpu": 4})
    world.gang("huge", pods=8, queue="q", cpu=1)

    world.session()

    assert world.job("huge").phase == "Pending"
    assert world.why("huge") == (
        "queue q at its limit: cpu 0 of 4 used or reserved, 8 asked; raise the capability of queue q by cpu 4"
    )
    (event,) = [e for e in world.events("Unschedulable") if e.type == "Normal"]
    assert event.message.startswith("queue resource quota insufficient: insufficient cpu — queue q")


def test_admitted_gangs_reserve_their_minimum_and_elastic_pods_give_room(world: SessionWorld) -> None:
    world.nodes(1, cpu=20)
    world.queue("q", capability={"cpu": 8})
    world.gang("admitted", pods=2, queue="q", cpu=1, phase="Inqueue")
    world.running("elastic", on="n-0", pods=4, queue="q", cpu=1, min_resources={"cpu": 1})
    world.gang("next", pods=5, queue="q", cpu=1)
    world.gang("too-many", pods=6, queue="q", cpu=1)
    ssn = world.open()

    assert ssn.job_enqueueable(world.job("next"))  # 4 held, 2 reserved, 3 elastic
    assert not ssn.job_enqueueable(world.job("too-many"))
    ssn.job_enqueued(world.job("next"))
    assert not ssn.job_enqueueable(world.job("next"))


@pytest.mark.parametrize(("state", "is_open"), [("Open", True), (None, True), ("Closed", False), ("Closing", False)])
def test_only_an_open_queue_takes_work(world: SessionWorld, state: str | None, is_open: bool) -> None:
    world.nodes(1, cpu=8)
    world.queue("q", state=state)
    world.gang("job", queue="q", cpu=1)
    ssn = world.open()
    queue, (task,) = ssn.queues["q"], tasks(world, "job")

    assert ssn.job_enqueueable(world.job("job")) == is_open
    assert ssn.allocatable(queue, task) == is_open
    assert ssn.simulate_allocatable(queue, task)
    if not is_open:
        assert world.job("job").refusal == ("queue closed", f"queue q is {state}; open it")
        assert ssn.allocatable.why(queue, task) == f"queue q is {state}; open it"


def test_higher_priority_goes_first_then_the_smaller_share_then_who_deserves_something() -> None:
    world = world_of()
    world.nodes(4, cpu=10)
    world.queue("first", priority=10, deserved={"cpu": 1})
    world.queue("poor", deserved={"cpu": 8})
    world.queue("even", deserved={"cpu": 2})
    world.queue("nothing")
    for number, (queue, cpu) in enumerate({"first": 3, "poor": 1, "even": 2}.items()):
        world.running(f"in-{queue}", on=f"n-{number}", queue=queue, cpu=cpu)
    ssn = world.open()
    ordered = [ssn.queues[name] for name in ("first", "poor", "even", "nothing")]

    for index, earlier in enumerate(ordered):
        for later in ordered[index + 1 :]:
            assert ssn.queue_order.compare(earlier, later) < 0
            assert ssn.queue_order.compare(later, earlier) > 0


def test_queues_change_places_as_their_tasks_are_placed_and_taken_back() -> None:
    world = world_of()
    world.nodes(1, cpu=10)
    for name in ("a", "b"):
        world.queue(name, deserved={"cpu": 4})
        world.gang(f"in-{name}", queue=name, cpu=2, phase="Inqueue")
    ssn = world.open()
    a, b = ssn.queues["a"], ssn.queues["b"]
    statement = ssn.statement()

    statement.allocate(tasks(world, "in-a")[0], ssn.nodes["n-0"])
    assert ssn.queue_order.compare(a, b) > 0
    statement.rollback()
    assert ssn.queue_order.compare(a, b) == 0


# -------------------------------------------------------------------- reclaim


def test_a_queue_may_reclaim_if_one_resource_stays_within_what_it_deserves(world: SessionWorld) -> None:
    world.nodes(2, cpu=4, memory="8Gi")
    world.queue("cpu-left", deserved={"cpu": 2, "memory": "2Gi"}, capability={"cpu": 4, "memory": "4Gi"})
    world.queue("none-left", deserved={"cpu": 1, "memory": "2Gi"})
    world.queue("capped", deserved={"cpu": 8}, capability={"cpu": 2})
    world.running("in-cpu-left", on="n-0", queue="cpu-left", cpu=1, memory="3Gi")
    world.running("in-none-left", on="n-0", queue="none-left", cpu=1, memory="1Gi")
    world.running("in-capped", on="n-0", queue="capped", cpu=1, memory="1Gi")
    asks = {"cpu-left": (1, "1Gi"), "none-left": (1, "2Gi"), "capped": (2, "1Gi")}
    for queue, (cpu, memory) in asks.items():
        world.gang(f"for-{queue}", queue=queue, cpu=cpu, memory=memory, phase="Inqueue")
    ssn = world.open()

    may = {queue: ssn.preemptive(ssn.queues[queue], tasks(world, f"for-{queue}")) for queue in asks}

    assert may == {"cpu-left": True, "none-left": False, "capped": False}


def offered(world: SessionWorld, *gangs: str) -> list[str]:
    """The victims that `asks` gets of these gangs' pods, in the order in which they would go."""
    ssn = world.open()
    candidates = [task for gang in gangs for task in tasks(world, gang)]
    return [task.name for task in ssn.reclaimable(tasks(world, "asks")[0], candidates)]


def test_a_queue_gives_what_it_holds_beyond_the_amount_it_deserves(world: SessionWorld) -> None:
    world.nodes(1, cpu=8)
    world.queue("rich", deserved={"cpu": 2})
    world.queue("poor", deserved={"cpu": 4})
    world.running("runs", on="n-0", pods=4, queue="rich", cpu=1, min_member=0)
    world.gang("asks", queue="poor", cpu=1, phase="Inqueue")

    assert len(offered(world, "runs")) == 2


def test_a_queue_keeps_its_guarantee_whatever_it_deserves(world: SessionWorld) -> None:
    world.nodes(1, cpu=8, memory="8Gi")
    world.queue("sure", deserved={"cpu": 1}, guarantee={"memory": "3Gi"})
    world.queue("poor", deserved={"cpu": 4})
    world.running("runs", on="n-0", pods=4, queue="sure", cpu=1, memory="1Gi", min_member=0)
    world.gang("asks", queue="poor", cpu=1, phase="Inqueue")

    assert len(offered(world, "runs")) == 1


def test_a_pod_that_asks_for_nothing_its_queue_deserves_goes_at_once(world: SessionWorld) -> None:
    world.nodes(1, cpu=4, memory="8Gi", resources={GPU: 1})
    world.queue("q17", deserved={"cpu": 2, "memory": "2Gi"})
    world.queue("q18", deserved={"cpu": 2, "memory": "4Gi", GPU: 1})
    world.running("memory", on="n-0", queue="q17", memory="4Gi")
    world.running("cpu", on="n-0", queue="q17", cpu=1)
    world.running("gpu", on="n-0", queue="q17", requests={GPU: 1})
    world.gang("asks", queue="q18", cpu=1, requests={GPU: 1}, phase="Inqueue")

    # the pod with memory shares no resource with who asks, that with cpu is within what its queue deserves
    assert offered(world, "memory", "cpu", "gpu") == ["gpu-0"]


def test_a_device_that_is_not_held_beyond_what_is_deserved_stays(world: SessionWorld) -> None:
    world.nodes(1, cpu=4, memory="4Gi", resources={GPU: 1})
    world.queue("q19", deserved={GPU: 1})
    world.queue("q20", deserved={"cpu": 2, "memory": "2Gi"})
    world.running("runs", on="n-0", queue="q19", cpu=4, memory="4Gi", requests={GPU: 1})
    world.gang("asks", queue="q20", cpu=1, memory="1Gi", phase="Inqueue")

    assert offered(world, "runs") == []


def test_the_gang_actions_take_from_other_queues_what_is_beyond_and_in_their_own_anything() -> None:
    world = world_with("capacity")
    world.nodes(1, cpu=8)
    world.queue("rich", deserved={"cpu": 1})
    world.queue("poor", deserved={"cpu": 4})
    world.running("runs", on="n-0", pods=2, queue="rich", cpu=1)
    world.gang("asks", queue="poor", cpu=1, phase="Inqueue")
    ssn = world.open()
    job, both = world.job("asks"), tasks(world, "runs")

    assert ssn.unified_evictable(EvictionContext("gangpreempt", job, None, ""), both) == both
    assert ssn.unified_evictable(EvictionContext("gangreclaim", job, None, ""), both) == both[:1]


def test_reclaim_takes_the_device_that_is_needed_and_leaves_cpu_alone() -> None:
    world = world_of(actions="allocate, reclaim")
    for name in ("n1", "n2"):
        world.node(name, cpu=2, memory="4Gi")
    for name in ("n3", "n4"):
        world.node(name, cpu=2, memory="4Gi", resources={GPU: 10})
    for queue in ("q5", "q6"):
        world.queue(queue, deserved={"cpu": 2, "memory": "4Gi", GPU: 10})
    world.running("firm", on="n3", queue="q5", requests={GPU: 10}, **firm())
    world.running("soft", on="n4", queue="q5", requests={GPU: 10})
    world.running("runs", on=["n1", "n2"], queue="q6", cpu=2, memory="4Gi")
    world.gang("asks", queue="q6", requests={GPU: 10}, phase="Inqueue")

    world.session()

    assert world.evicted() == ["default/soft-0"]


def test_a_queue_that_would_not_gain_takes_nothing() -> None:
    world = world_of(actions="allocate, reclaim")
    world.node("n1", cpu=4, memory="8Gi", resources={GPU: 4})
    for queue in ("q14", "q16"):
        world.queue(queue, deserved={"cpu": 2, "memory": "4Gi", GPU: 2})
    world.queue("q15")
    world.running("fair", on="n1", queue="q14", cpu=2, memory="4Gi")
    world.running("free", on="n1", queue="q15", requests={GPU: 1})
    world.running("own", on="n1", queue="q16", cpu=2, memory="1Gi", requests={GPU: 1})
    world.gang("asks", queue="q16", cpu=2, memory="3Gi", requests={GPU: 1}, phase="Inqueue")

    world.session()

    assert world.evicted() == []


def test_gauges_show_what_queues_hold_and_may_have() -> None:
    world = world_of()
    world.nodes(1, cpu=8)
    world.queue("q", capability={"cpu": 6}, deserved={"cpu": 2}, guarantee={"cpu": 1})
    world.running("runs", on="n-0", queue="q", cpu=3)

    world.session()

    shown = {
        name: metric(world, f'volcano_queue_{name}{{queue_name="q"}}')
        for name in (
            "allocated_milli_cpu", "request_milli_cpu", "deserved_milli_cpu",
            "capacity_milli_cpu", "real_capacity_milli_cpu", "share", "overused",
        )
    }  # fmt: skip
    assert shown == {
        "allocated_milli_cpu": 3000, "request_milli_cpu": 3000, "deserved_milli_cpu": 2000,
        "capacity_milli_cpu": 6000, "real_capacity_milli_cpu": 6000, "share": 1.5, "overused": 1,
    }  # fmt: skip
