"""The World builder: what it writes is what the API server would return, the same bytes each time."""

import pytest
import yaml

from vcsched.simulator import fragments
from vcsched.simulator.world import World, role


def build() -> World:
    world = World()
    world.nodes(3, cpu=2, memory="4Gi", labels={"zone": ["a", "b"]}, taints=["gpu=only:NoSchedule"])
    world.priority_class("high", 100)
    world.queue("research", weight=2, capability={"cpu": 4}, guarantee={"cpu": 0.5})
    world.gang("llama", pods=2, cpu=0.5, memory="1Gi", queue="research", priority_class="high")
    return world


def test_the_same_calls_give_the_same_bytes() -> None:
    assert build().yaml() == build().yaml()


def test_the_yaml_reads_back_as_the_objects() -> None:
    world = build()
    assert list(yaml.safe_load_all(world.yaml())) == world.objects()


def test_uids_are_unique_also_for_an_object_made_again() -> None:
    world = build()
    before = world.remove("Pod", "llama-0")["metadata"]["uid"]
    after = world.pod("llama-0", gang="llama")["metadata"]["uid"]
    uids = [obj["metadata"]["uid"] for obj in world.objects()]
    assert before not in uids
    assert after in uids
    assert len(set(uids)) == len(uids)


def test_what_was_said_first_is_older() -> None:
    stamps = [obj["metadata"]["creationTimestamp"] for obj in build().objects()]
    assert stamps == sorted(stamps)
    assert stamps[0] < stamps[-1]


def test_a_gang_asks_in_all_what_its_members_ask() -> None:
    gang = World().gang("llama", pods=3, min_member=2, cpu=0.5, memory="1Gi", requests={"nvidia.com/gpu": 1})
    assert gang.group["spec"]["minMember"] == 2
    assert gang.group["spec"]["minResources"] == {
        "cpu": "1",
        "memory": str(2 * 1024**3),
        "nvidia.com/gpu": "2",
    }
    container = gang.pods[0]["spec"]["containers"][0]
    assert container["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"}
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "1"}


def test_roles_have_sizes_minima_and_options_of_their_own() -> None:
    gang = World().gang("tf", cpu=1, roles={"ps": 1, "worker": role(2, cpu=4, min_member=1)}, min_member=2)
    assert [pod["metadata"]["name"] for pod in gang.pods] == ["tf-ps-0", "tf-worker-0", "tf-worker-1"]
    assert gang.group["spec"]["minTaskMember"] == {"worker": 1}
    assert gang.group["spec"]["minResources"] == {"cpu": "5"}
    assert gang.pods[1]["metadata"]["annotations"]["volcano.sh/task-spec"] == "worker"


def test_pods_get_the_value_of_their_priority_class() -> None:
    pods = list(build().of("Pod"))
    assert [pod["spec"]["priority"] for pod in pods] == [100, 100]


def test_running_pods_are_dealt_out_over_the_nodes() -> None:
    gang = World().running("old", on=["n-0", "n-1"], pods=3, cpu=1)
    assert [pod["spec"]["nodeName"] for pod in gang.pods] == ["n-0", "n-1", "n-0"]
    assert {pod["status"]["phase"] for pod in gang.pods} == {"Running"}
    assert gang.group["status"]["phase"] == "Running"


def test_only_the_first_pods_run_when_fewer_nodes_are_named() -> None:
    gang = World().gang("half", pods=3, on=["n-0"])
    assert [pod["spec"].get("nodeName") for pod in gang.pods] == ["n-0", None, None]
    assert [pod["status"]["phase"] for pod in gang.pods] == ["Running", "Pending", "Pending"]


def test_a_namespace_is_made_when_it_is_first_used() -> None:
    world = World()
    world.gang("a", namespace="team")
    world.gang("b", namespace="team")
    assert [obj["metadata"]["name"] for obj in world.of("Namespace")] == ["team"]
    assert world.objects()[0]["kind"] == "Namespace"


def test_node_names_go_on_counting_and_label_lists_are_dealt_out() -> None:
    world = World()
    world.nodes(2, labels={"zone": ["a", "b"]})
    world.nodes(1)
    world.node("special", cpu=1)
    assert [node["metadata"]["name"] for node in world.of("Node")] == ["n-0", "n-1", "n-2", "special"]
    assert [node["metadata"]["labels"].get("zone") for node in world.of("Node")] == ["a", "b", None, None]


def test_a_replica_set_owns_its_pods() -> None:
    world = World()
    owner = world.replica_set("web", 2, cpu=1)
    references = [pod["metadata"]["ownerReferences"][0] for pod in world.of("Pod")]
    assert [each["uid"] for each in references] == [owner["metadata"]["uid"]] * 2
    assert all(each["controller"] for each in references)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("gpu=only:NoSchedule", {"key": "gpu", "value": "only", "effect": "NoSchedule"}),
        ("gpu:NoExecute", {"key": "gpu", "effect": "NoExecute"}),
    ],
)
def test_taints_are_written_as_kubectl_takes_them(text: str, made: dict[str, str]) -> None:
    assert fragments.taint(text) == made


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("gpu=only:NoSchedule", {"key": "gpu", "operator": "Equal", "value": "only", "effect": "NoSchedule"}),
        ("gpu:NoSchedule", {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}),
        ("gpu", {"key": "gpu", "operator": "Exists"}),
    ],
)
def test_a_toleration_without_a_value_tolerates_any(text: str, made: dict[str, str]) -> None:
    assert fragments.toleration(text) == made


def test_an_object_that_is_not_there_is_named() -> None:
    with pytest.raises(KeyError, match="no Pod default/nobody"):
        World().get("Pod", "nobody")
