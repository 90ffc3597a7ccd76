"""The kubelet and ReplicaSet stand-ins and garbage collection: pods live, end and come back."""

import pytest

from tests.simulator.conftest import eventually
from vcsched.simulator.cluster import ApiServer
from vcsched.simulator.registry import PODS
from vcsched.simulator.world import World


def phases(server: ApiServer) -> dict[str, str]:
    return {pod["metadata"]["name"]: pod["status"]["phase"] for pod in server.objects("Pod")}


def bind(server: ApiServer, name: str, node: str = "n-0") -> None:
    server.call(lambda simulation: simulation.registry.bind("default", name, {"target": {"name": node}}))


def delete(server: ApiServer, name: str, **options: object) -> None:
    server.call(lambda simulation: simulation.registry.delete(PODS, "default", name, options))


def test_a_bound_pod_runs_and_is_ready(server: ApiServer) -> None:
    world = World()
    world.nodes(1)
    world.pod("p")
    server.load(world.objects())
    bind(server, "p")
    eventually(lambda: phases(server)["p"], "Running")
    status = server.objects("Pod")[0]["status"]
    assert {each["type"] for each in status["conditions"] if each["status"] == "True"} == {
        "PodScheduled",
        "Initialized",
        "ContainersReady",
        "Ready",
    }
    assert status["startTime"]
    assert status["containerStatuses"][0]["ready"]


@pytest.mark.parametrize(("code", "phase"), [(None, "Succeeded"), (0, "Succeeded"), (3, "Failed")])
def test_a_pod_ends_when_its_time_is_over(server: ApiServer, code: int | None, phase: str) -> None:
    world = World()
    world.nodes(1)
    options = {} if code is None else {"exit_code": code}
    world.pod("p", run_seconds=0.05, **options)
    world.pod("for-ever")
    server.load(world.objects())
    bind(server, "p")
    bind(server, "for-ever")
    eventually(lambda: phases(server), {"p": phase, "for-ever": "Running"})


def test_a_pod_that_was_running_when_it_was_loaded_ends_too(server: ApiServer) -> None:
    world = World()
    world.nodes(1)
    world.running("old", on="n-0", run_seconds=0.05)
    server.load(world.objects())
    eventually(lambda: phases(server), {"old-0": "Succeeded"})


def test_a_pod_on_a_node_that_is_not_there_does_not_start(server: ApiServer) -> None:
    world = World()
    world.nodes(1)
    world.pod("here")
    world.pod("nowhere")
    server.load(world.objects())
    bind(server, "nowhere", "n-9")
    bind(server, "here")
    eventually(lambda: phases(server), {"here": "Running", "nowhere": "Pending"})


def test_a_deleted_pod_goes_after_it_stopped(server: ApiServer) -> None:
    world = World()
    world.nodes(1)
    world.running("old", on="n-0")
    server.load(world.objects())
    delete(server, "old-0")
    eventually(lambda: phases(server), {})


def test_a_replica_set_makes_its_pods_anew(server: ApiServer) -> None:
    world = World()
    world.nodes(1)
    world.replica_set("web", 3, cpu=1, make_pods=False)
    server.load(world.objects())
    eventually(lambda: len(phases(server)), 3)
    first = sorted(phases(server))
    pod = server.objects("Pod")[0]
    assert pod["metadata"]["generateName"] == "web-"
    assert pod["metadata"]["ownerReferences"][0]["controller"]
    assert pod["metadata"]["labels"] == {"app": "web"}

    delete(server, first[0])
    eventually(lambda: len(phases(server)), 3)
    assert first[0] not in phases(server)


def test_a_replica_set_counts_the_pods_it_already_has(server: ApiServer) -> None:
    world = World()
    owner = world.replica_set("web", 2, cpu=1)
    server.load(world.objects())
    eventually(lambda: server.objects("ReplicaSet", "apps/v1")[0].get("status", {}).get("replicas"), 2)
    assert sorted(phases(server)) == ["web-0", "web-1"]
    assert owner["spec"]["replicas"] == 2


def test_a_replica_set_replaces_a_pod_that_ended(server: ApiServer) -> None:
    world = World()
    world.nodes(1)
    world.replica_set("web", 1, make_pods=False, run_seconds=0.05)
    server.load(world.objects())
    eventually(lambda: len(phases(server)), 1)
    first = next(iter(phases(server)))
    bind(server, first)
    eventually(lambda: sorted(phases(server).values()), ["Pending", "Succeeded"])


def test_scaling_down_takes_the_pods_without_a_node_first(server: ApiServer) -> None:
    world = World()
    world.nodes(1)
    world.replica_set("web", 3)
    server.load(world.objects())
    eventually(lambda: server.objects("ReplicaSet", "apps/v1")[0].get("status", {}).get("replicas"), 3)
    bind(server, "web-1")

    def scale(simulation):
        sets = simulation.store.table("replicasets.apps")
        old = sets.objects["default/web"].obj
        smaller = {**old, "metadata": dict(old["metadata"]), "spec": {**old["spec"], "replicas": 1}}
        simulation.store.put(sets, "default/web", smaller)

    server.call(scale)
    eventually(lambda: sorted(phases(server)), ["web-1"])


def test_what_lost_its_owner_is_collected(server: ApiServer) -> None:
    world = World()
    world.replica_set("web", 2)
    server.load(world.objects())
    eventually(lambda: len(phases(server)), 2)
    server.delete("replicasets", "web", group="apps")
    eventually(lambda: phases(server), {})
