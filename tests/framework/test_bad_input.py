"""Bad input: that one object gets one clear reason, as condition and event; everything else goes on (issue: Truth)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.generators.faults import no_faults
from tests.harness import SessionWorld


@pytest.fixture
def world() -> Any:
    """Two healthy nodes and a healthy gang, which must be bound whatever else is there."""
    world = SessionWorld()
    world.nodes(2, prefix="good", cpu=16)
    with no_faults():
        yield world
        world.gang("good", pods=4, cpu=1)
        world.session(2)
        assert world.bound("good") == 4


def message(world: SessionWorld, pod: str) -> str:
    """What the condition of a waiting pod says."""
    mark = world.marks()[f"default/{pod}"]
    (condition,) = mark.conditions
    assert (condition.type, condition.status) == ("PodScheduled", "False")
    return condition.message


def told(world: SessionWorld, kind: str, name: str) -> list[str]:
    """The texts of the warning events on an object."""
    return [
        event.message
        for event in world.events()
        if (event.about.kind, event.about.name, event.type) == (kind, name, "Warning")
    ]


# ---------------------------------------------------------------- pods


@pytest.mark.parametrize(
    ("amount", "reason"),
    [
        ("many", "resources.requests.cpu: 'many' is not a quantity"),
        ("9E", "cpu comes to 9223372036854776"),
        ("9E", "can be counted exactly"),
        ("1e400", "cpu comes to"),
    ],
)
def test_a_pod_with_an_absurd_request_waits_and_hears_why(world: SessionWorld, amount: str, reason: str) -> None:
    world.gang("bad", pods=2, cpu=1)
    world.get("Pod", "bad-1")["spec"]["containers"][0]["resources"]["requests"]["cpu"] = amount
    world.session(3)

    assert world.bound("bad") == 0
    assert reason in message(world, "bad-1")
    assert "made anew" in message(world, "bad-1")
    assert len([text for text in told(world, "Pod", "bad-1") if reason in text]) == 1


def test_an_absurd_pod_that_runs_already_takes_a_place_and_no_amounts(world: SessionWorld) -> None:
    pod = world.pod("huge", node="good-0", cpu=1)
    pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "9E"
    world.session()

    row = world.cache.picture.nodes_by_name["good-0"].row
    assert world.cache.picture.nodes.amounts_of("used", row) == {"pods": 1.0}


@pytest.mark.parametrize("section", ["nodeAffinity", "podAffinity"])
def test_a_pod_with_an_unknown_operator_is_placed_nowhere_and_hears_why(world: SessionWorld, section: str) -> None:
    expressions = [{"key": "zone", "operator": "Sideways", "values": ["a"]}]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    terms: dict[str, Any] = {
        "nodeAffinity": {required: {"nodeSelectorTerms": [{"matchExpressions": expressions}]}},
        "podAffinity": {
            required: [{"topologyKey": "zone", "labelSelector": {"matchExpressions": expressions}}],
        },
    }
    world.pod("odd", cpu=1, affinity={section: terms[section]})
    world.session(2)

    assert world.binds() == {}
    assert message(world, "odd")


def test_a_pod_whose_podgroup_never_comes_hears_so(world: SessionWorld) -> None:
    world.pod("orphan", cpu=1, gang="missing")
    world.session(3)

    assert "PodGroup default/missing does not exist" in message(world, "orphan")
    assert len(told(world, "Pod", "orphan")) == 1
    assert "default/orphan" not in world.binds()


def test_an_orphan_is_bound_once_its_podgroup_comes(world: SessionWorld) -> None:
    world.pod("late-0", cpu=1, gang="late")
    world.session()
    world.gang("late", pods=0, min_member=1)
    world.session(2)
    assert world.bound("late") == 1


def test_ten_thousand_labels_are_borne(world: SessionWorld) -> None:
    labels = {f"example.com/label-{number}": "x" * 60 for number in range(10_000)}
    world.gang("labelled", pods=2, cpu=1, labels=labels)
    world.node("labelled", cpu=4, labels=dict(labels))
    world.session(2)
    assert world.bound("labelled") == 2


def test_a_pod_without_containers_or_status_is_no_trouble(world: SessionWorld) -> None:
    world.add({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "namespace": "default"}})
    world.add({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "empty", "namespace": "default"},
        "spec": {"schedulerName": "volcano"},
    })  # fmt: skip
    world.session(2)
    assert "default/bare" not in world.binds()


def test_thousands_of_invented_resources_do_not_fill_the_tables(world: SessionWorld) -> None:
    world.node("gpus", cpu=8, resources={"nvidia.com/gpu": 8})
    for number in range(300):
        world.pod(f"odd-{number}", cpu=1, requests={f"example.com/r{number}": 1})
    world.gang("gpu", pods=2, cpu=1, requests={"nvidia.com/gpu": 1})
    world.session(2)

    assert world.cache.picture.space.width == 200
    assert "example.com/r299 is offered by no node, and too many other resources" in message(world, "odd-299")
    assert world.bound("gpu") == 2
    world.node("odd", cpu=1, resources={"example.com/r299": 1})
    world.session(2)
    assert world.cache.picture.space.width == 201
    assert "default/odd-299" in world.binds()


# ---------------------------------------------------------------- PodGroups


def test_a_podgroup_without_queue_goes_to_the_default_queue(world: SessionWorld) -> None:
    world.gang("plain", pods=2, cpu=1, queue=None)
    world.session(2)
    assert world.job("plain").queue_name == "default"
    assert world.bound("plain") == 2


def test_a_podgroup_of_a_queue_that_does_not_exist_hears_so_and_so_do_its_pods(world: SessionWorld) -> None:
    world.gang("lost", pods=2, cpu=1, queue="nowhere")
    world.session(3)

    text = "queue nowhere does not exist; create it or change spec.queue"
    assert told(world, "PodGroup", "lost") == [text]
    assert text in message(world, "lost-0")
    world.queue("nowhere")
    world.session(2)
    assert world.bound("lost") == 2


def test_a_minimum_of_zero_binds_pod_by_pod(world: SessionWorld) -> None:
    world.gang("loose", pods=3, cpu=12, min_member=0, min_resources=None)
    world.session(3)
    assert world.bound("loose") == 2


def test_a_minimum_beyond_reason_waits_for_its_pods(world: SessionWorld) -> None:
    world.gang("vast", pods=2, cpu=1, min_member=2**31, min_resources=None)
    world.session(2)
    assert world.bound("vast") == 0
    assert "2 of 2147483648 pods of the gang exist" in message(world, "vast-0")


def test_a_negative_minimum_counts_as_none_and_is_told_once(world: SessionWorld) -> None:
    world.gang("minus", pods=2, cpu=1, min_member=-1, min_resources=None)
    world.session(3)
    assert world.bound("minus") == 2
    assert told(world, "PodGroup", "minus") == ["spec.minMember is -1; it must be 0 or more (counts as 0)"]


def test_all_that_is_wrong_with_a_podgroup_is_told_at_once_and_not_again(world: SessionWorld) -> None:
    gang = world.gang("bad", pods=1, cpu=1, min_member=-2, min_resources={"cpu": "lots"})
    world.session()
    gang.group["status"] = {"phase": "Inqueue"}
    world.upsert([gang.group])
    world.session(2)

    (text,) = [text for text in told(world, "PodGroup", "bad") if "minMember" in text]
    assert text.startswith(
        "spec.minMember is -2; it must be 0 or more (counts as 0); spec.minResources: cpu: 'lots' is"
    )
    gang.group["spec"] = {"minMember": 1, "queue": "default"}
    world.upsert([gang.group])
    assert world.cache.refused == {}


def test_absurd_minimum_resources_are_never_admitted(world: SessionWorld) -> None:
    world.gang("greedy", pods=1, cpu=1, min_resources={"cpu": "9E", "memory": "9E"})
    world.session(2)
    assert world.bound("greedy") == 0
    assert world.job("greedy").phase in ("", "Pending")
    assert message(world, "greedy-0")


# ---------------------------------------------------------------- nodes and queues


def test_a_node_that_cannot_be_read_is_left_out_with_a_reason_until_it_changes(world: SessionWorld) -> None:
    bad = world.node("bad", cpu=64)
    bad["status"]["allocatable"]["memory"] = "plenty"
    world.session(2)
    assert "bad" not in world.cache.picture.nodes_by_name
    (text,) = told(world, "Node", "bad")
    assert text.startswith("status.allocatable: memory: 'plenty' is not a quantity")

    bad["status"]["allocatable"]["memory"] = "1Gi"
    world.upsert([bad])
    assert "bad" in world.cache.picture.nodes_by_name
    assert world.cache.refused == {}


def test_a_node_with_absurd_amounts_counts_as_large_and_its_sums_stay_exact(world: SessionWorld) -> None:
    world.node("vast", cpu="9E", memory="9E")
    world.gang("tiny", pods=3, cpu="1m", memory=1)
    world.session(2)
    assert world.bound("tiny") == 3


def test_a_queue_that_cannot_be_read_is_unlimited_and_says_so_once(world: SessionWorld) -> None:
    queue = world.queue("odd", capability={"cpu": "heaps"}, deserved={"memory": "some"})
    world.gang("in-odd", pods=2, cpu=1, queue="odd")
    world.session()
    world.upsert([queue])
    world.session()

    (text,) = told(world, "Queue", "odd")
    assert "spec.capability: cpu: 'heaps'" in text
    assert "spec.deserved: memory: 'some'" in text
    assert world.bound("in-odd") == 2
