"""proportion: order, limits, admission, victims (spec 05 §7.3, §20.3)."""

from __future__ import annotations

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import metric, tasks, world_with


@pytest.fixture
def world() -> SessionWorld:
    """Two nodes of 2 cpu and 2G; q1 (2/2G at most) runs 1/2G, q2 (3/3G at most) runs 2/1G."""
    world = world_with("gang", "proportion", "predicates", actions="enqueue, allocate")
    world.node("n1", cpu=2, memory="2G")
    world.node("n2", cpu=2, memory="2G")
    world.queue("q1", capability={"cpu": 2, "memory": "2G"})
    world.queue("q2", capability={"cpu": 3, "memory": "3G"})
    world.running("run1", on="n1", queue="q1", cpu=1, memory="1G")
    world.running("run2", on="n2", queue="q1", memory="1G")
    world.running("run3", on="n2", queue="q2", cpu=2, memory="1G")
    return world


def test_only_what_a_gang_asks_is_compared_with_the_limit(world: SessionWorld) -> None:
    world.gang("cpu-only", queue="q1", cpu=1)

    world.session()

    assert world.binds() == {"default/cpu-only-0": "n1"}


def test_a_gang_that_does_not_fit_below_its_queues_limit_is_not_admitted(world: SessionWorld) -> None:
    world.gang("both", queue="q1", cpu=1, memory="1G")

    world.session()

    assert world.job("both").phase == "Pending"
    assert world.job("both").refusal[0] == "queue limit"
    assert world.why("both") == (
        "queue q1 at its limit: memory 1.9Gi of 1.9Gi used or reserved, 953.7Mi asked; "
        "raise the capability of the queue by memory 953.7Mi"
    )
    (event,) = [e for e in world.events("Unschedulable") if e.type == "Normal"]
    assert event.message.startswith("queue resource quota insufficient: insufficient memory — queue q1")


def test_a_task_beyond_what_its_queue_deserves_is_not_placed(world: SessionWorld) -> None:
    world.gang("both", queue="q1", cpu=1, memory="1G", phase="Inqueue")
    ssn = world.open()
    queue, (task,) = ssn.queues["q1"], tasks(world, "both")

    assert not ssn.allocatable(queue, task)
    assert not ssn.simulate_allocatable(queue, task)
    assert not ssn.preemptive(queue, [task])
    assert ssn.allocatable.why(queue, task) == (
        "queue q1 has its share: memory 1.9Gi of 1.9Gi deserved used, 953.7Mi asked"
    )


def test_tasks_are_asked_about_together_where_a_queue_wants_to_reclaim_for_them(world: SessionWorld) -> None:
    world.gang("two", pods=2, queue="q1", cpu=1, phase="Inqueue")
    ssn = world.open()
    queue, both = ssn.queues["q1"], tasks(world, "two")

    assert ssn.preemptive(queue, both[:1])
    assert not ssn.preemptive(queue, both)


@pytest.mark.parametrize(("state", "is_open"), [("Open", True), (None, True), ("Closed", False), ("Closing", False)])
def test_only_an_open_queue_takes_work_and_one_without_a_state_counts_as_open(state: str | None, is_open: bool) -> None:
    world = world_with("proportion", actions="enqueue")
    world.nodes(1, cpu=4)
    world.queue("q", state=state)
    world.gang("job", queue="q", cpu=1)
    ssn = world.open()
    queue, (task,) = ssn.queues["q"], tasks(world, "job")

    assert ssn.job_enqueueable(world.job("job")) == is_open
    assert ssn.allocatable(queue, task) == is_open
    assert ssn.preemptive(queue, [task]) == is_open
    assert ssn.simulate_allocatable(queue, task)
    assert world.events() == []
    if not is_open:
        assert world.job("job").refusal == ("queue closed", f"queue q is {state}; open it")
        assert ssn.allocatable.why(queue, task) == f"queue q is {state}; open it"


def test_in_the_references_way_a_queue_without_a_state_is_closed() -> None:
    world = world_with("proportion", compatibility="{statelessQueueClosed: true}")
    world.nodes(1, cpu=4)
    world.queue("q", state=None)
    world.gang("job", queue="q", cpu=1)
    ssn = world.open()

    assert not ssn.job_enqueueable(world.job("job"))


def test_the_queue_of_higher_priority_goes_first_then_the_one_with_the_smaller_share() -> None:
    world = world_with("proportion")
    world.nodes(2, cpu=2, memory="4Gi")
    for name, priority in (("q1", 5), ("q2", 1), ("q3", 10), ("q4", 1)):
        world.queue(name, priority=priority)
    world.running("used", on="n-0", queue="q1", cpu=2, memory="4Gi")
    world.running("little", on="n-1", queue="q4", cpu=0.5)
    for name in ("q2", "q3", "q4"):
        world.gang(f"wants-{name}", queue=name, cpu=2, memory="4Gi")
    ssn = world.open()

    ordered = [ssn.queues[name] for name in ("q3", "q1", "q2", "q4")]

    for index, earlier in enumerate(ordered):
        for later in ordered[index + 1 :]:
            assert ssn.queue_order.compare(earlier, later) < 0
            assert ssn.queue_order.compare(later, earlier) > 0


def test_queues_change_places_as_their_tasks_are_placed() -> None:
    world = world_with("proportion")
    world.nodes(1, cpu=10)
    for name in ("q1", "q2"):
        world.queue(name)
        world.gang(f"job-{name}", queue=name, cpu=1)
    ssn = world.open()
    q1, q2 = ssn.queues["q1"], ssn.queues["q2"]
    assert ssn.queue_order.compare(q1, q2) == 0

    statement = ssn.statement()
    statement.allocate(tasks(world, "job-q1")[0], ssn.nodes["n-0"])
    assert ssn.queue_order.compare(q1, q2) > 0

    statement.rollback()
    assert ssn.queue_order.compare(q1, q2) == 0


def test_a_queue_that_has_all_it_deserves_is_overused(world: SessionWorld) -> None:
    ssn = world.open()

    # q1 asks for no more than it has; so does q2
    assert ssn.overused(ssn.queues["q1"])
    assert ssn.overused.why(ssn.queues["q1"]) == (
        "queue q1 has all it deserves: cpu 1 of 1 · memory 1.9Gi of 1.9Gi · pods 2 of 2"
    )


def test_a_queue_with_waiting_pods_is_not_overused_since_pods_count(world: SessionWorld) -> None:
    world.gang("more", queue="q1", cpu=1, memory="1G")
    ssn = world.open()

    assert not ssn.overused(ssn.queues["q1"])
    assert not ssn.overused(ssn.queues["default"]), "a queue without jobs is never asked to stop"


def test_an_admitted_gang_reserves_what_its_minimum_lacks() -> None:
    world = world_with("proportion", actions="enqueue")
    world.nodes(1, cpu=4, memory="8Gi")
    world.queue("q", capability={"cpu": 4, "memory": "8Gi"})
    world.gang("a", pods=3, cpu=1, memory="1Gi", queue="q", phase="Inqueue")
    world.gang("b", cpu=1, memory="1Gi", queue="q")
    world.gang("c", pods=2, cpu=1, memory="1Gi", queue="q")
    ssn = world.open()

    assert ssn.job_enqueueable(world.job("b"))
    assert not ssn.job_enqueueable(world.job("c"))
    ssn.job_enqueued(world.job("b"))
    assert not ssn.job_enqueueable(world.job("b"))


def test_a_gang_that_runs_in_full_reserves_nothing_more() -> None:
    world = world_with("proportion", actions="enqueue")
    world.nodes(1, cpu=4, memory="8Gi")
    world.queue("q", capability={"cpu": 4, "memory": "8Gi"})
    world.gang("a", pods=3, on="n-0", cpu=1, memory="1Gi", queue="q", phase="Inqueue")
    world.gang("b", cpu=1, memory="1Gi", queue="q")
    ssn = world.open()

    assert ssn.job_enqueueable(world.job("b"))


def test_what_jobs_hold_beyond_their_minimum_is_no_obstacle_to_admission() -> None:
    world = world_with("proportion", actions="enqueue")
    world.nodes(1, cpu=4)
    world.queue("q", capability={"cpu": 4})
    world.running("elastic", pods=4, on="n-0", cpu=1, queue="q", min_member=1)
    world.gang("b", pods=3, cpu=1, queue="q")
    ssn = world.open()

    assert ssn.job_enqueueable(world.job("b"))


def test_victims_of_reclaim_come_from_queues_that_hold_more_than_they_deserve_until_they_do_not() -> None:
    world = world_with("proportion")
    world.nodes(1, cpu=4, memory="4Gi")
    for name in ("q1", "q2", "q3"):
        world.queue(name)
    world.running("much", pods=3, on="n-0", cpu=1, queue="q1")
    world.running("little", on="n-0", cpu=1, queue="q2")
    world.gang("wants", pods=3, cpu=1, queue="q3")
    ssn = world.open()
    candidates = [*tasks(world, "little"), *tasks(world, "much")]

    victims = ssn.reclaimable(tasks(world, "wants")[0], candidates)

    # 1, 1.5 and 1.5 cpu are deserved: of three, the second still leaves more, the third not
    assert victims == tasks(world, "much")[:2]


def test_what_is_deserved_is_computed_again_only_when_something_changed(world: SessionWorld) -> None:
    world.open().close()
    (plugin,) = [p for _, p in world.scheduler.plugins if p.name == "proportion"]
    before = plugin.deserved
    world.open().close()
    assert plugin.deserved is before

    world.node("n3", cpu=2)
    world.open().close()
    assert plugin.deserved is not before


def test_what_queues_have_and_deserve_are_metrics(world: SessionWorld) -> None:
    world.gang("more", queue="q1", cpu=2, memory="0.5G", phase="Inqueue")
    world.session()

    assert metric(world, 'volcano_queue_allocated_milli_cpu{queue_name="q2"}') == 2000
    assert metric(world, 'volcano_queue_allocated_memory_bytes{queue_name="q1"}') == 2e9
    assert metric(world, 'volcano_queue_request_milli_cpu{queue_name="q1"}') == 3000
    assert metric(world, 'volcano_queue_deserved_milli_cpu{queue_name="q1"}') == 2000
    assert metric(world, 'volcano_queue_request_scalar_resources{queue_name="q1",resource="pods"}') == 3
    assert metric(world, 'volcano_queue_weight{queue_name="q1"}') == 1
    assert metric(world, 'volcano_queue_share{queue_name="q1"}') == 1
    assert metric(world, 'volcano_queue_overused{queue_name="q1"}') == 0
    assert metric(world, 'volcano_queue_allocated_milli_cpu{queue_name="default"}') == 0


def test_a_scalar_that_a_queue_has_no_more_is_shown_as_zero() -> None:
    world = world_with("proportion")
    world.nodes(1, cpu=4, resources={"nvidia.com/gpu": 4})
    gang = world.running("gpu", on="n-0", requests={"nvidia.com/gpu": 2})
    world.session()
    series = 'volcano_queue_allocated_scalar_resources{queue_name="default",resource="nvidia.com/gpu"}'
    assert metric(world, series) == 2000

    world.delete(gang.pods[0])
    world.session()

    assert metric(world, series) == 0


def test_a_queue_that_takes_the_row_of_a_deleted_one_shows_its_own_numbers() -> None:
    world = world_with("proportion")
    world.nodes(1, cpu=4)
    old = world.queue("old")
    world.session()
    world.delete(old)
    world.scheduler.metrics.queues.gone("old")

    world.queue("new")
    world.session()

    assert metric(world, 'volcano_queue_weight{queue_name="new"}') == 1
    with pytest.raises(KeyError):
        metric(world, 'volcano_queue_weight{queue_name="old"}')
