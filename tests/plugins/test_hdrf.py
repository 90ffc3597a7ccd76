"""drf in a hierarchy: shares of nodes, order of queues, reclaim (spec 05 §6.2, §20.2)."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import tasks
from vcsched.framework.session import Session
from vcsched.plugins.drf.hierarchy import Hierarchy
from vcsched.plugins.drf.tree import ShareTree


def world_of(actions: str = "allocate") -> SessionWorld:
    return SessionWorld(
        f"""
actions: "{actions}"
tiers:
- plugins:
  - name: drf
    enableHierarchy: true
  - name: predicates
"""
    )


def place(world: SessionWorld, queue: str, hierarchy: str, weights: str = "") -> None:
    """A queue that stands there."""
    notes = {"volcano.sh/hierarchy": hierarchy, "volcano.sh/hierarchy-weights": weights}
    world.queue(queue, annotations={key: value for key, value in notes.items() if value})


def order(ssn: Session, a: str, b: str) -> int:
    return ssn.queue_order.compare(ssn.queues[a], ssn.queues[b])


def test_each_department_gets_half_and_its_teams_half_of_that() -> None:
    world = world_of()
    world.node("n", cpu=10, memory="10G", pods=50)
    place(world, "sci", "root/sci", "100/50")
    place(world, "dev", "root/eng/dev", "100/50/50")
    place(world, "prod", "root/eng/prod", "100/50/50")
    world.gang("in-sci", pods=10, min_member=0, queue="sci", cpu=1, memory="1G", phase="Inqueue")
    world.gang("in-dev", pods=10, min_member=0, queue="dev", cpu=1, memory="0", phase="Inqueue")
    world.gang("in-prod", pods=10, min_member=0, queue="prod", cpu=0, memory="1G", phase="Inqueue")

    world.session()

    assert [world.bound(gang) for gang in ("in-sci", "in-dev", "in-prod")] == [5, 5, 5]


def test_what_one_department_cannot_use_goes_to_the_others() -> None:
    world = world_of()
    world.node("n", cpu=30, memory="30G", pods=500)
    for queue, hierarchy in (("q1", "root/pg1"), ("q2", "root/pg2"), ("q3", "root/pg3/pg31"), ("q4", "root/pg4")):
        place(world, queue, hierarchy, "100/25/50" if queue == "q3" else "100/25")
    for name, queue, cpu in (("p1", "q1", 1), ("p2", "q2", 1), ("p31", "q3", 1), ("p32", "q3", 0), ("p4", "q4", 0)):
        memory = "0" if cpu else "1G"
        world.gang(name, pods=30, min_member=0, queue=queue, cpu=cpu, memory=memory, phase="Inqueue")

    world.session()

    assert [world.bound(gang) for gang in ("p1", "p2", "p31", "p32", "p4")] == [10, 10, 10, 15, 15]


def test_shares_are_divided_by_weights_at_the_step_where_two_queues_part() -> None:
    world = world_of()
    world.nodes(1, cpu=20)
    place(world, "light", "root/a/light", "1/1/1")
    place(world, "heavy", "root/a/heavy", "1/1/4")
    place(world, "other", "root/b", "1/8")
    for queue, cpu in (("light", 2), ("heavy", 4), ("other", 1)):
        world.gang(f"in-{queue}", pods=10, on=["n-0"] * cpu, queue=queue, cpu=1, min_member=1)
    ssn = world.open()

    assert order(ssn, "heavy", "light") < 0  # 4 of 20 by 4 before 2 of 20 by 1
    assert order(ssn, "other", "light") < 0
    assert order(ssn, "light", "other") > 0
    assert order(ssn, "light", "light") == 0


def test_a_queue_that_wants_no_more_comes_after_one_that_does() -> None:
    world = world_of()
    world.nodes(1, cpu=20)
    place(world, "full", "root/full")
    place(world, "hungry", "root/hungry")
    world.running("has-all", on="n-0", queue="full", cpu=1)
    world.gang("wants-more", pods=10, on=["n-0"] * 5, queue="hungry", cpu=1, min_member=1)
    ssn = world.open()

    assert order(ssn, "hungry", "full") < 0


@pytest.mark.parametrize(
    ("hierarchy", "weights", "expected"),
    [
        ("", "", ()),
        ("root", "3", ()),
        ("root/a/b", "1/2/8", (("a", 2.0), ("b", 8.0))),
        ("root/a/b", "1/x", (("a", 1.0), ("b", 1.0))),
        ("root/a", "1/0.5", (("a", 1.0),)),
    ],
)
def test_a_queue_says_where_it_stands_and_what_each_step_weighs(
    hierarchy: str, weights: str, expected: tuple[tuple[str, float], ...]
) -> None:
    world = world_of()
    place(world, "q", hierarchy, weights)
    queue = world.open().queues["q"]
    made = Hierarchy([queue])

    assert tuple(made.weight[node] for node in made.paths["q"]) == tuple(weight for _, weight in expected)
    assert [made.depth[node] for node in made.paths["q"]] == list(range(1, len(expected) + 1))


def test_where_two_queues_disagree_about_a_weight_the_older_one_holds() -> None:
    world = world_of()
    place(world, "old", "root/a/x", "1/2/1")
    place(world, "young", "root/a/y", "1/9/1")
    made = Hierarchy(reversed(list(world.open().queues.values())))

    assert made.weight[made.paths["young"][0]] == 2
    assert made.paths["old"][0] == made.paths["young"][0]


def test_a_queue_takes_from_one_that_would_still_come_later_without_the_victim() -> None:
    world = world_of()
    world.nodes(1, cpu=10)
    place(world, "rich", "root/rich")
    place(world, "poor", "root/poor")
    place(world, "even", "root/even")
    world.gang("in-rich", pods=9, on=["n-0"] * 6, queue="rich", cpu=1, min_member=0)
    world.gang("in-even", pods=9, on=["n-0"] * 2, queue="even", cpu=1, min_member=0)
    world.gang("in-poor", pods=9, on=["n-0"], queue="poor", cpu=1, min_member=0)
    ssn = world.open()
    asks = next(iter(world.job("in-poor").pending.values()))
    running = {gang: [t for t in tasks(world, gang) if t.node] for gang in ("in-rich", "in-even", "in-poor")}

    found = ssn.reclaimable(asks, [task for each in running.values() for task in each])

    assert found == running["in-rich"]  # 5 against 2; of the even one, 1 against 2


@pytest.mark.parametrize("seed", range(4))
def test_the_kept_tree_equals_a_fresh_one_after_any_doing_and_undoing_and_over_sessions(seed: int) -> None:
    rng = random.Random(seed)
    world = world_of()
    world.nodes(2, cpu=14, memory="20Gi")
    paths = ["root/a/x", "root/a/y", "root/b", "root/b/z", "root"]
    for number, path in enumerate(paths):
        place(world, f"q{number}", path, "1/2/3")
        for kind in ("one", "two"):
            world.gang(
                f"{kind}-{number}", pods=5, on=["n-0"] * rng.randint(0, 2), queue=f"q{number}", min_member=0,
                cpu=1, memory=f"{rng.randint(0, 3)}Gi", phase="Inqueue",
            )  # fmt: skip
    kept = None
    for _ in range(3):
        ssn = world.open()
        kept = next(ledger for ledger in ssn.ledgers.active if isinstance(ledger, ShareTree))
        statements = []
        for _ in range(25):
            job = world.job(f"{rng.choice(['one', 'two'])}-{rng.randrange(5)}")
            statement = ssn.statement()
            running = [t for t in job.tasks.values() if t.node is not None and t.op is None]
            act = rng.randrange(3)
            if act == 0 and job.pending:
                statement.allocate(next(iter(job.pending.values())), ssn.nodes["n-1"])
            elif act == 1 and running:
                statement.evict(running[0], "test")
            elif statements:
                statements.pop(rng.randrange(len(statements))).rollback()
            statements.append(statement)
            if rng.randrange(2):
                assert_equal(kept, fresh(ssn), ssn)
        ssn.close()
        gone = rng.choice([pod for pod in world.of("Pod") if pod["status"]["phase"] == "Running"])
        world.delete(world.remove("Pod", gone["metadata"]["name"]))
    assert_equal(kept, fresh(world.open()), world.open())


def fresh(ssn: Session) -> ShareTree:
    tree = ShareTree()
    tree.begin(ssn)
    return tree


def assert_equal(kept: ShareTree | None, made: ShareTree, ssn: Session) -> None:
    """Both trees order all pairs of queues alike, to the last bit of their shares."""
    assert kept is not None
    queues = list(ssn.queues.values())
    pairs = [(a, b) for a in queues for b in queues]
    assert [kept.compare(*pair) for pair in pairs] == [made.compare(*pair) for pair in pairs]
    mine, other = kept.current(), made.current()
    assert np.array_equal(mine.share, other.share)
    assert np.array_equal(mine.saturated, other.saturated)
