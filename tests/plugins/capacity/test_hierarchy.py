"""capacity in a tree: limits of ancestors, order, relatives, ancestorReclaimLevel (spec 05 §9, §20.5)."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import tasks
from tests.plugins.capacity.worlds import GPU, firm, world_of
from vcsched.plugins.capacity.sums import Held, below
from vcsched.plugins.capacity.tree import grow


def family(world: SessionWorld, **parents: object) -> None:
    """Queues under the root: `a={}, b={"parent": "a", …}`."""
    world.queue("root")
    for name, said in parents.items():
        world.queue(name, **said)  # type: ignore[arg-type]


def test_a_task_must_fit_below_the_limits_of_all_ancestors() -> None:
    world = world_of(tree=True)
    world.nodes(1, cpu=16)
    family(world, q3={"capability": {"cpu": 4}}, q31={"parent": "q3"}, q32={"parent": "q3"}, q33={"parent": "q3"})
    world.running("in-q31", on="n-0", queue="q31", cpu=2)
    world.gang("in-q32", queue="q32", cpu=1)
    world.gang("in-q33", queue="q33", cpu=2)

    world.session()

    assert world.binds() == {"default/in-q32-0": "n-0"}
    assert world.why("in-q33") == (
        "queue q3 (above q33) at its limit: cpu 3 of 4 used or reserved, 2 asked; "
        "raise the capability of queue q3 by cpu 1"
    )


def test_gangs_of_two_queues_are_admitted_against_the_limit_of_their_parent() -> None:
    world = world_of(tree=True, actions="enqueue")
    world.nodes(1, cpu=16)
    family(world, top={"capability": {"cpu": 2}}, a={"parent": "top"}, b={"parent": "top"})
    world.gang("first", pods=2, queue="a", cpu=1)
    world.gang("second", pods=2, queue="b", cpu=1)

    world.session()

    assert [world.job(name).phase for name in ("first", "second")] == ["Inqueue", "Pending"]


def test_two_queues_are_compared_where_their_ways_part() -> None:
    world = world_of(tree=True)
    world.nodes(1, cpu=16)
    family(
        world,
        rich={"deserved": {"cpu": 2}},
        poor={"deserved": {"cpu": 8}},
        rich_a={"parent": "rich", "deserved": {"cpu": 4}},
        rich_b={"parent": "rich", "deserved": {"cpu": 8}},
        poor_a={"parent": "poor", "deserved": {"cpu": 1}},
    )
    for queue, cpu in (("rich_a", 1), ("rich_b", 1), ("poor_a", 1)):
        world.running(f"in-{queue}".replace("_", "-"), on="n-0", queue=queue, cpu=cpu)
    ssn = world.open()
    order, queue = ssn.queue_order.compare, ssn.queues

    assert order(queue["poor_a"], queue["rich_a"]) < 0  # their parents: 1 of 8 before 2 of 2
    assert order(queue["rich_b"], queue["rich_a"]) < 0  # siblings: 1 of 8 before 1 of 4
    assert order(queue["rich_a"], queue["rich"]) < 0  # a queue that may have jobs before one that may not
    assert order(queue["poor"], queue["rich"]) < 0


def test_the_share_of_an_inner_queue_stands_still_while_a_session_works() -> None:
    world = world_of(tree=True)
    world.nodes(1, cpu=16)
    family(
        world,
        left={"deserved": {"cpu": 4}},
        right={"deserved": {"cpu": 4}},
        a={"parent": "left", "deserved": {"cpu": 4}},
        b={"parent": "right", "deserved": {"cpu": 4}},
        c={"parent": "right", "deserved": {"cpu": 4}},
    )
    world.gang("job", queue="b", cpu=2, phase="Inqueue")
    ssn = world.open()
    order, queue = ssn.queue_order.compare, ssn.queues

    ssn.statement().allocate(tasks(world, "job")[0], ssn.nodes["n-0"])

    assert order(queue["a"], queue["b"]) == 0  # right has more now, but that shows in the next session
    assert order(queue["c"], queue["b"]) < 0


def test_victims_come_from_near_relatives_first() -> None:
    world = world_of(tree=True, actions="allocate, reclaim")
    world.node("n1", cpu=8, memory="8Gi")
    family(
        world,
        q3={"capability": {"cpu": 8}},
        q4={"deserved": {"cpu": 2}},
        q31={"parent": "q3", "deserved": {"cpu": 2}},
        q32={"parent": "q3", "deserved": {"cpu": 2}},
    )
    world.running("stranger", on="n1", queue="q4", cpu=4)
    world.running("firm", on="n1", queue="q31", cpu=2, **firm())
    world.running("sibling", on="n1", queue="q31", cpu=2)
    world.gang("asks", queue="q32", cpu=2, phase="Inqueue")

    world.session()

    assert world.evicted() == ["default/sibling-0"]


def test_between_equals_the_nearer_queue_is_the_victim_whichever_comes_later() -> None:
    world = world_of(tree=True)
    world.nodes(1, cpu=8)
    family(world, top={}, own={"parent": "top"}, near={"parent": "top"}, far={})
    ssn = world.open()
    own, near, far = (ssn.queues[name] for name in ("own", "near", "far"))

    assert ssn.victim_queue_order.compare(near, far, own) < 0
    assert ssn.victim_queue_order.compare(far, near, own) > 0


# -------------------------------------------------------------------- ancestorReclaimLevel


@pytest.mark.parametrize(("level", "may"), [(0, False), (1, True)])
def test_a_queue_that_deserves_nothing_may_reclaim_for_what_its_parent_deserves(level: int, may: bool) -> None:
    world = world_of(tree=True, level=level)
    world.nodes(1, resources={GPU: 4})
    family(world, queue1={"deserved": {GPU: 1}}, queue11={"parent": "queue1"}, queue2={})
    world.running("runs", on="n-0", pods=4, queue="queue2", requests={GPU: 1}, min_member=0)
    world.gang("asks", queue="queue11", requests={GPU: 1}, phase="Inqueue")
    ssn = world.open()
    asks = tasks(world, "asks")

    assert ssn.preemptive(ssn.queues["queue11"], asks) == may
    assert len(ssn.reclaimable(asks[0], tasks(world, "runs"))) == 4


@pytest.mark.parametrize(("level", "victims"), [(0, 1), (1, 1), (2, 0)])
def test_an_ancestor_within_reach_that_is_not_over_its_deserved_amount_protects(level: int, victims: int) -> None:
    world = world_of(tree=True, level=level)
    world.nodes(1, resources={GPU: 2})
    family(
        world,
        grand={"deserved": {GPU: 3}},
        parent={"parent": "grand", "deserved": {GPU: 1}},
        deep={"parent": "parent", "deserved": {GPU: 1}},
        asking={"deserved": {GPU: 2}},
    )
    world.running("runs", on="n-0", queue="deep", requests={GPU: 2})
    world.gang("asks", queue="asking", requests={GPU: 2}, phase="Inqueue")
    ssn = world.open()

    assert len(ssn.reclaimable(tasks(world, "asks")[0], tasks(world, "runs"))) == victims


@pytest.mark.parametrize(("level", "victims"), [(0, 1), (1, 0)])
def test_near_relatives_do_not_take_from_each_other_what_neither_deserves(level: int, victims: int) -> None:
    world = world_of(tree=True, level=level)
    world.nodes(1, resources={GPU: 2})
    family(world, top={"deserved": {GPU: 4}}, a={"parent": "top"}, b={"parent": "top"})
    world.running("runs", on="n-0", queue="a", requests={GPU: 2})
    world.gang("asks", queue="b", requests={GPU: 2}, phase="Inqueue")
    ssn = world.open()

    assert len(ssn.reclaimable(tasks(world, "asks")[0], tasks(world, "runs"))) == victims


def test_what_one_victim_leaves_of_an_ancestor_counts_for_the_next() -> None:
    world = world_of(tree=True, level=1)
    world.nodes(1, cpu=8)
    family(world, top={"deserved": {"cpu": 3}}, a={"parent": "top"}, asking={"deserved": {"cpu": 4}})
    world.running("runs", on="n-0", pods=4, queue="a", cpu=1, min_member=0)
    world.gang("asks", queue="asking", cpu=1, phase="Inqueue")
    ssn = world.open()

    assert len(ssn.reclaimable(tasks(world, "asks")[0], tasks(world, "runs"))) == 1


# -------------------------------------------------------------------- kept sums


@pytest.mark.parametrize("seed", range(5))
def test_kept_sums_equal_fresh_ones_after_any_doing_and_undoing(seed: int) -> None:
    world = world_of(tree=True)
    world.nodes(2, cpu=50)
    family(world, top={}, a={"parent": "top"}, b={"parent": "top"}, c={})
    for queue in ("a", "b", "c"):
        world.gang(f"waits-{queue}", pods=5, queue=queue, cpu=1, memory="1Gi", phase="Inqueue")
        world.running(f"runs-{queue}", on="n-0", pods=5, queue=queue, cpu=2, min_member=0)
    ssn = world.open()
    table, n, rng = ssn.queue_table, ssn.queue_table.n, random.Random(seed)
    tree = grow(ssn.queues)
    held = next(ledger for ledger in ssn.ledgers.active if isinstance(ledger, Held))
    waiting = [t for q in "abc" for t in tasks(world, f"waits-{q}")]
    running = [t for q in "abc" for t in tasks(world, f"runs-{q}")]
    rng.shuffle(waiting)
    rng.shuffle(running)
    statements = []

    for _ in range(40):
        act = rng.randrange(4)
        statement = ssn.statement()
        if act == 0 and waiting:
            statement.allocate(waiting.pop(), ssn.nodes["n-1"])
        elif act == 1 and waiting:
            statement.pipeline(waiting.pop(), ssn.nodes["n-0"])
        elif act == 2 and running:
            statement.evict(running.pop(), "test")
        elif act == 3 and statements:
            statements.pop(rng.randrange(len(statements))).rollback()
        statements.append(statement)
        assert np.array_equal(held.amounts, below(table.charged[:, :n], tree))
