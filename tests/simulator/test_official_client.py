"""The official Python client works against the simulator."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException

from vcsched.simulator.cluster import ApiServer
from vcsched.simulator.world import World

VOLCANO = ("scheduling.volcano.sh", "v1beta1")


@pytest.fixture
def api(server: ApiServer, kubeconfig: Path) -> Iterator[client.ApiClient]:
    world = World()
    world.nodes(2)
    world.queue("research")
    world.gang("g", pods=3, cpu=1)
    server.load(world.objects())
    with config.new_client_from_config(str(kubeconfig)) as made:
        yield made


def test_pods_are_listed_in_pages_watched_bound_and_deleted(api: client.ApiClient) -> None:
    core = client.CoreV1Api(api)
    page = core.list_namespaced_pod("default", limit=2)
    assert len(page.items) == 2
    rest = core.list_namespaced_pod("default", limit=2, _continue=page.metadata._continue)
    assert [pod.metadata.name for pod in rest.items] == ["g-2"]

    target = client.V1ObjectReference(api_version="v1", kind="Node", name="n-1")
    binding = client.V1Binding(metadata=client.V1ObjectMeta(name="g-0"), target=target)
    core.create_namespaced_pod_binding("g-0", "default", binding, _preload_content=False)
    stream = watch.Watch().stream(
        core.list_namespaced_pod,
        "default",
        resource_version=page.metadata.resource_version,
        timeout_seconds=1,
    )
    assert next(stream)["object"].spec.node_name == "n-1"

    core.delete_namespaced_pod("g-1", "default")
    with pytest.raises(ApiException) as error:
        core.read_namespaced_pod("g-1", "default")
    assert error.value.status == 404


def test_statuses_are_patched_and_replaced(api: client.ApiClient) -> None:
    core, custom = client.CoreV1Api(api), client.CustomObjectsApi(api)
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    patched = core.patch_namespaced_pod_status("g-0", "default", {"status": {"conditions": [condition]}})
    assert patched.status.conditions[0].reason == "Unschedulable"

    queue = custom.get_cluster_custom_object(*VOLCANO, "queues", "research")
    queue["status"] = {"allocated": {"cpu": "4"}}
    custom.replace_cluster_custom_object_status(*VOLCANO, "queues", "research", queue)
    with pytest.raises(ApiException) as error:
        custom.replace_cluster_custom_object_status(
            *VOLCANO, "queues", "research", {**queue, "status": {"allocated": {"cpu": "5"}}}
        )
    assert error.value.status == 409

    group = custom.get_namespaced_custom_object(*VOLCANO, "default", "podgroups", "g")
    group["status"] = {"phase": "Inqueue"}
    made = custom.replace_namespaced_custom_object(*VOLCANO, "default", "podgroups", "g", group)
    assert made["status"] == {"phase": "Inqueue"}


def test_leases_are_taken_once(api: client.ApiClient) -> None:
    leases = client.CoordinationV1Api(api)
    mine = client.V1Lease(metadata=client.V1ObjectMeta(name="volcano"), spec=client.V1LeaseSpec(holder_identity="me"))
    made = leases.create_namespaced_lease("kube-system", mine)
    made.spec.holder_identity = "you"
    leases.replace_namespaced_lease("volcano", "kube-system", made)
    with pytest.raises(ApiException) as error:
        leases.replace_namespaced_lease("volcano", "kube-system", made)
    assert error.value.status == 409


def test_discovery_and_definitions(api: client.ApiClient) -> None:
    assert client.VersionApi(api).get_code().minor == "32"
    definitions = client.ApiextensionsV1Api(api).list_custom_resource_definition()
    assert {each.spec.names.kind for each in definitions.items} == {"PodGroup", "Queue"}
    served = client.CustomObjectsApi(api).get_api_resources(*VOLCANO).resources
    assert {each.name for each in served} == {"podgroups", "queues", "queues/status"}
