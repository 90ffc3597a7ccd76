"""The tree of queues and what may be wrong with it (spec 05 §9.1, design-notes §7 row 16)."""

from __future__ import annotations

import numpy as np

from tests.plugins.capacity.worlds import world_of
from vcsched.model.queue import Queue
from vcsched.plugins.capacity.sums import below
from vcsched.plugins.capacity.tree import Tree, grow


def tree_of(**parents: str) -> tuple[Tree, dict[str, Queue]]:
    """The tree of queues with these parents ("" for none named), and the queues."""
    world = world_of()
    for name, parent in parents.items():
        world.queue(name, parent=parent or None)
    queues = dict(world.open().queues)
    del queues["default"]
    return grow(queues), queues


def names(tree: Tree, queue: str) -> list[str]:
    return [tree.name_of[row] for row in tree.paths[queue]]


def test_a_queue_without_a_parent_stands_under_the_root() -> None:
    tree, _ = tree_of(leaf="middle", middle="top", top="", root="")

    assert names(tree, "leaf") == ["root", "top", "middle", "leaf"]
    assert names(tree, "root") == ["root"]
    assert not tree.faults


def test_only_queues_without_children_may_have_jobs() -> None:
    tree, queues = tree_of(root="", top="", leaf="top", other="")

    assert set(tree.ways) == {"leaf", "other"}
    assert tree.ways["leaf"] == tuple(queues[name].row for name in ("leaf", "top", "root"))
    assert tree.inner == {"root": ["top", "other"], "top": ["leaf"]}


def test_ancestors_are_counted_from_the_parent_upwards() -> None:
    tree, queues = tree_of(root="", top="", leaf="top")

    assert tree.ancestor(queues["leaf"], 1) == queues["top"].row
    assert tree.ancestor(queues["leaf"], 2) == queues["root"].row
    assert tree.ancestor(queues["leaf"], 3) is None


def test_a_missing_parent_takes_only_what_is_below_it_out_of_the_tree() -> None:
    tree, _ = tree_of(root="", lost="nowhere", child="lost", fine="")

    assert set(tree.paths) == {"root", "fine"}
    assert set(tree.faults) == {"lost", "child"}
    assert tree.faults["child"] == "parent nowhere of queue lost does not exist; create it or change spec.parent"


def test_a_loop_takes_itself_and_what_hangs_on_it_out_of_the_tree() -> None:
    tree, _ = tree_of(root="", hanging="a", a="b", b="c", c="a", fine="")

    assert set(tree.paths) == {"root", "fine"}
    assert set(tree.faults) == {"a", "b", "c", "hanging"}
    assert tree.faults["hanging"] == (
        "queues are each other's parents: a → b → c → a; change spec.parent of one of them"
    )


def test_a_queue_that_is_its_own_parent_is_a_loop() -> None:
    tree, _ = tree_of(root="", self="self")

    assert tree.faults == {"self": "queue self is its own parent; change its spec.parent"}


def test_without_a_root_no_queue_has_a_place() -> None:
    tree, _ = tree_of(top="", leaf="top")

    assert not tree.paths
    assert tree.faults["leaf"] == "parent root of queue top does not exist; create it or change spec.parent"


def test_sums_of_a_queue_include_everything_below_it() -> None:
    tree, queues = tree_of(root="", top="", left="top", right="top", other="")
    own = np.zeros((1, 1 + max(q.row for q in queues.values())))
    for name, amount in (("left", 1.0), ("right", 2.0), ("top", 4.0), ("other", 8.0)):
        own[0, queues[name].row] = amount

    total = below(own, tree)

    assert {name: total[0, q.row] for name, q in queues.items()} == {
        "left": 1, "right": 2, "top": 7, "other": 8, "root": 15,
    }  # fmt: skip


def test_a_fault_holds_back_the_jobs_it_concerns_and_no_others() -> None:
    world = world_of(tree=True)
    world.nodes(1, cpu=8)
    world.queue("root")
    world.queue("lost", parent="nowhere")
    world.queue("top")
    world.queue("leaf", parent="top")
    for queue in ("lost", "top", "leaf"):
        world.gang(f"in-{queue}", queue=queue, cpu=1)

    world.session()

    assert world.binds() == {"default/in-leaf-0": "n-0"}
    assert world.why("in-lost") == "parent nowhere of queue lost does not exist; create it or change spec.parent"
    assert world.why("in-top") == "queue top has queues below it and takes no jobs; use one of leaf"
    assert world.job("in-lost").phase == "Pending"


def test_a_job_that_is_admitted_unasked_is_told_when_it_is_to_be_placed() -> None:
    world = world_of(tree=True)
    world.nodes(1, cpu=8)
    world.queue("root")
    world.queue("top")
    world.queue("leaf", parent="top")
    world.gang("job", queue="top", cpu=1, min_resources=None)

    world.session()

    assert world.job("job").phase == "Inqueue"
    assert world.binds() == {}
    assert world.why("job") == "queue top has queues below it and takes no jobs; use one of leaf"


def test_in_the_references_way_one_fault_holds_back_all() -> None:
    world = world_of(tree=True, compat="{queueFaultBlocksAll: true}")
    world.nodes(1, cpu=8)
    world.queue("root")
    world.queue("top")
    world.queue("leaf", parent="top")
    world.gang("in-leaf", queue="leaf", cpu=1)
    world.gang("in-top", queue="top", cpu=1)

    world.session()

    assert world.binds() == {}
    assert world.why("in-leaf") == "queue top has queues below it and takes no jobs; use one of leaf"


def test_jobs_go_on_when_the_fault_is_mended() -> None:
    world = world_of(tree=True)
    world.nodes(1, cpu=8)
    world.queue("root")
    world.queue("lost", parent="nowhere")
    world.gang("job", queue="lost", cpu=1)
    world.session()
    assert world.binds() == {}

    world.queue("nowhere")
    world.session()

    assert world.binds() == {"default/job-0": "n-0"}
