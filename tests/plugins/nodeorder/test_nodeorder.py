"""nodeorder as a plugin: which scores there are, and those that read the node object (spec 06 §3, §10.2)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import tasks, world_with
from vcsched.framework.session import Session
from vcsched.kube.keys import HOSTNAME

ONLY = {
    "leastrequested",
    "balancedresource",
    "nodeaffinity",
    "podaffinity",
    "tainttoleration",
    "imagelocality",
    "podtopologyspread",
}
MIB = 1024 * 1024


def world_for(**weights: int) -> SessionWorld:
    """A world in which only these scorers of nodeorder are on."""
    given = {**dict.fromkeys(ONLY, 0), **weights}
    arguments = ", ".join(f"{scorer}.weight: {weight}" for scorer, weight in given.items())
    return world_with(f"nodeorder {{{arguments}}}", "predicates")


def scores(world: SessionWorld, ssn: Session, gang: str) -> list[float]:
    """The totals of all nodes for a gang's first pod, in the order of the nodes."""
    ask = ssn.pipeline.ask(tasks(world, gang)[0])
    return ssn.pipeline.scores(ask, ssn.pipeline.feasible(ask, room=True)).tolist()  # type: ignore[no-any-return]


def test_all_but_image_locality_are_batch_scores_and_most_allocated_is_off() -> None:
    ssn = world_with("nodeorder").open()

    assert len(ssn.node_order.scores) == 1
    assert len(ssn.batch_node_order.scores) == 6


def test_a_weight_of_zero_takes_a_scorer_away() -> None:
    ssn = world_for().open()

    assert not ssn.node_order
    assert not ssn.batch_node_order


def test_the_functions_of_two_sessions_are_equal_so_that_scores_can_be_kept() -> None:
    world = world_with("nodeorder {mostrequested.weight: 1}", "binpack")
    first, second = world.open(), world.open()

    assert first.batch_node_order.scores == second.batch_node_order.scores
    assert first.node_order.scores == second.node_order.scores


def preferring(*terms: tuple[int, str, str]) -> dict[str, Any]:
    """Preferred node affinity: (weight, label, value) each."""
    return {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": weight,
                    "preference": {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]},
                }
                for weight, key, value in terms
            ]
        }
    }


def test_the_node_that_meets_most_of_the_preferred_terms_is_best() -> None:
    world = world_for(nodeaffinity=2)
    world.nodes(3, labels={"zone": ["zone1", "zone2", "zone3"], "disk": "ssd"})
    world.gang("job", affinity=preferring((30, "zone", "zone1"), (20, "zone", "zone2"), (10, "disk", "ssd")), cpu=1)
    ssn = world.open()

    assert scores(world, ssn, "job") == [200, 150, 50]


def test_preferences_by_name_count_and_those_that_cannot_be_read_do_not() -> None:
    world = world_for(nodeaffinity=1)
    world.nodes(2)
    terms = [
        {"weight": 5, "preference": {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n-1"]}]}},
        {"weight": 90, "preference": {"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["a"]}]}},
    ]
    world.gang("job", affinity={"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": terms}}, cpu=1)
    ssn = world.open()

    assert scores(world, ssn, "job") == [0, 100]


def test_a_pod_without_preferences_is_not_scored_for_them() -> None:
    world = world_for(nodeaffinity=2)
    world.nodes(2)
    world.gang("job", cpu=1)
    world.session()

    assert len(world.binds()) == 1


def test_nodes_that_would_rather_not_have_the_pod_come_last() -> None:
    world = world_for(tainttoleration=3)
    world.node("clean")
    world.node("one", taints=["a=b:PreferNoSchedule"])
    world.node("two", taints=["a=b:PreferNoSchedule", "c=d:PreferNoSchedule"])
    world.gang("job", cpu=1)
    world.gang("used-to-it", tolerations=["a=b:PreferNoSchedule", "c:PreferNoSchedule"], cpu=1)
    ssn = world.open()

    assert scores(world, ssn, "job") == [300, 150, 0]
    assert scores(world, ssn, "used-to-it") == [300, 300, 300]


def with_image(world: SessionWorld, node: str, image: str, size: int) -> None:
    world.get("Node", node)["status"]["images"] = [{"names": [image], "sizeBytes": size}]


def test_a_node_that_has_the_image_is_better_the_fewer_others_have_it_not() -> None:
    world = world_for(imagelocality=1)
    world.nodes(4)
    image = "registry.example.com/big:1"
    with_image(world, "n-0", image, 600 * MIB)
    with_image(world, "n-1", image, 600 * MIB)
    world.gang("job", cpu=1, spec={"containers": [{"name": "main", "image": image}]})
    ssn = world.open()

    # half of the nodes have it: 300 MiB of at most 1000, above 23
    assert scores(world, ssn, "job") == [28, 28, 0, 0]


def test_the_news_of_one_node_about_an_image_changes_the_scores_of_all() -> None:
    world = world_for(imagelocality=1)
    world.nodes(2)
    image = "big"
    with_image(world, "n-0", "big:latest", 1000 * MIB)
    world.gang("job", cpu=1, spec={"containers": [{"name": "main", "image": image}]})
    ssn = world.open()
    assert scores(world, ssn, "job") == [48, 0]
    ssn.close()

    with_image(world, "n-1", "big:latest", 1000 * MIB)
    world.upsert([world.get("Node", "n-1")])
    ssn = world.open()
    assert scores(world, ssn, "job") == [100, 100]
    ssn.close()

    world.get("Node", "n-0")["status"]["images"] = []
    world.upsert([world.get("Node", "n-0")])
    assert scores(world, world.open(), "job") == [0, 48]


def test_images_of_a_node_that_goes_are_forgotten() -> None:
    world = world_for(imagelocality=1)
    world.nodes(3)
    for node in ("n-0", "n-1"):
        with_image(world, node, "big:latest", 1000 * MIB)
    world.gang("job", cpu=1, spec={"containers": [{"name": "main", "image": "big"}]})
    ssn = world.open()
    assert scores(world, ssn, "job")[0] == 65
    ssn.close()

    world.delete(world.get("Node", "n-1"))

    assert scores(world, world.open(), "job") == [48, 0]


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        pytest.param({"leastrequested": 1}, "n2", id="the emptier node"),
        pytest.param({"mostrequested": 1}, "n1", id="the fuller node"),
    ],
)
def test_pods_go_where_the_score_is_highest(weights: dict[str, int], expected: str) -> None:
    world = world_for(**weights)
    world.node("n1", cpu=2, memory="4Gi")
    world.node("n2", cpu=4, memory="8Gi")
    world.gang("job", cpu=1, memory="1G", phase="Inqueue")

    world.session()

    assert world.binds() == {"default/job-0": expected}


def test_every_name_of_the_specification_is_an_argument() -> None:
    world = world_with("nodeorder {bogus.weight: 1}")
    world.session()
    ((_, plugin),) = world.scheduler.plugins

    assert plugin.args.unasked() == ("bogus.weight",)
    assert plugin.args.asked() == tuple(
        sorted(f"{name}.weight" for name in {*ONLY, "mostrequested"} | {"bogus"} - {"bogus"})
    )
    assert HOSTNAME not in plugin.args
