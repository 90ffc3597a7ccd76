"""`deploy/` on a real API server: all of it applies, and the CRDs are those of spec 08 §0 and 01 §12."""

from __future__ import annotations

from typing import Any

import pytest

from tests.controlplane.launch import ControlPlane
from tests.e2e.api import Api, ApiError
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import OUR_ACCOUNT, Kubectl
from tests.e2e.daemon import DEPLOY

pytestmark = pytest.mark.controlplane

Obj = dict[str, Any]


def group(**spec: Any) -> Obj:
    return made("PodGroup", spec) | {"metadata": {"name": "x", "namespace": "default"}}


def queue(**spec: Any) -> Obj:
    return made("Queue", spec)


def made(kind: str, spec: Obj) -> Obj:
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": kind,
        "metadata": {"name": "x"},
        "spec": spec,
    }


def test_applying_again_changes_nothing_and_warns_of_nothing(kubectl: Kubectl, installed: ControlPlane) -> None:
    done = kubectl("apply", "-k", str(DEPLOY))

    assert done.stderr == ""
    assert [line for line in done.stdout.splitlines() if not line.endswith(" unchanged")] == []


def test_the_schemas_are_structural_and_their_names_accepted(api: Api, kubectl: Kubectl) -> None:
    conditions = kubectl("get", "crd", "-o", "jsonpath={range .items[*].status.conditions[*]}{.type}={.status} {end}")

    assert sorted(conditions.stdout.split()) == ["Established=True"] * 2 + ["NamesAccepted=True"] * 2


def test_kubectl_shows_podgroups_and_queues_as_before(cluster: Cluster, kubectl: Kubectl) -> None:
    cluster.queue("research", parent="root")
    cluster.gang("train", pods=4, queue="research", phase="Inqueue")
    cluster.submit()

    groups = kubectl("get", "pg", "-n", cluster.default_namespace, "-o", "wide").stdout.splitlines()
    queues = kubectl("get", "q", "research").stdout.splitlines()

    assert groups[0].split() == ["NAME", "STATUS", "MINMEMBER", "RUNNINGS", "AGE", "QUEUE"]
    name, status, least, _age, in_queue = groups[1].split()  # no RUNNINGS yet
    assert (name, status, least, in_queue) == ("train", "Inqueue", "4", "research")
    assert queues[0].split() == ["NAME", "PARENT"]
    assert queues[1].split() == ["research", "root"]


@pytest.mark.parametrize("name", ["pg", "podgroup-v1beta1", "q", "queue-v1beta1"])
def test_the_short_names_are_known(kubectl: Kubectl, installed: ControlPlane, name: str) -> None:
    kubectl("get", name)


def test_kubectl_explains_the_fields(kubectl: Kubectl, installed: ControlPlane) -> None:
    assert "pods must be placeable at the same time" in kubectl("explain", "podgroup.spec.minMember").stdout


def test_defaults_are_filled_in(api: Api, cluster: Cluster) -> None:
    topology: Obj = {"highestTierAllowed": 1}
    spec = {"networkTopology": topology, "subGroupPolicy": [{"name": "a", "networkTopology": {}}]}

    [kept] = api.create([group(**spec)])
    [share] = api.create([queue(capability={"cpu": 2, "memory": "4Gi"})])

    api.delete("PodGroup", "x", "default")
    assert kept["spec"]["queue"] == "default"
    assert kept["spec"]["networkTopology"] == {"highestTierAllowed": 1, "mode": "hard"}
    [policy] = kept["spec"]["subGroupPolicy"]
    assert policy == {"name": "a", "subGroupSize": 1, "minSubGroups": 0, "networkTopology": {"mode": "hard"}}
    assert share["spec"] == {
        "weight": 1,
        "dequeueStrategy": "traverse",
        "capability": {"cpu": 2, "memory": "4Gi"},
    }


@pytest.mark.parametrize(
    ("obj", "complaint"),
    [
        pytest.param(group(minMember=-1), "spec.minMember", id="a negative gang size"),
        pytest.param(group(minMember=2**31), "spec.minMember", id="a gang size beyond 32 bits"),
        pytest.param(group(queue="No_Name"), "spec.queue", id="a queue that is no DNS name"),
        pytest.param(group(priorityClassName="p" * 254), "spec.priorityClassName", id="a name that is too long"),
        pytest.param(group(minResources={"cpu": "lots"}), "spec.minResources.cpu", id="an amount without number"),
        pytest.param(group(networkTopology={"mode": "firm"}), "spec.networkTopology.mode", id="an unknown mode"),
        pytest.param(group(networkTopology={"highestTierAllowed": -1}), "highestTierAllowed", id="a negative tier"),
        pytest.param(group(subGroupPolicy=[{"subGroupSize": 0}]), "subGroupSize", id="an empty sub-group"),
        pytest.param(group(subGroupPolicy=[{"minSubGroups": -1}]), "minSubGroups", id="negative sub-groups"),
        pytest.param(group() | {"status": {"phase": "Sleeping"}}, "status.phase", id="an unknown phase"),
        pytest.param(queue(weight=0), "spec.weight", id="no weight"),
        pytest.param(queue(weight=65536), "spec.weight", id="a weight beyond the most"),
        pytest.param(queue(priority=-1), "spec.priority", id="a negative priority"),
        pytest.param(queue(parent=""), "spec.parent", id="an empty parent"),
        pytest.param(queue(dequeueStrategy="lifo"), "spec.dequeueStrategy", id="an unknown strategy"),
        pytest.param(queue(guarantee={"resource": {"cpu": "1x"}}), "guarantee.resource.cpu", id="a bad guarantee"),
    ],
)
def test_a_wrong_object_is_refused_by_name_of_the_field(api: Api, obj: Obj, complaint: str) -> None:
    with pytest.raises(ApiError, match=complaint) as refusal:
        api.create([obj])

    assert refusal.value.code == 422


def test_a_podgroup_is_written_whole_and_a_queue_has_a_status_of_its_own(api: Api, cluster: Cluster) -> None:
    cluster.gang("whole")
    cluster.queue("apart", state="Closed")
    cluster.submit()
    home = cluster.default_namespace

    api.merge("PodGroup", "whole", {"status": {"phase": "Running", "running": 3}}, home)
    api.merge("Queue", "apart", {"status": {"state": "Open", "allocated": {"cpu": "1"}}})

    assert api.get("PodGroup", "whole", home)["status"] == {"phase": "Running", "running": 3}
    assert api.get("Queue", "apart")["status"] == {"state": "Closed"}


def test_writers_may_say_null_for_nothing(api: Api, cluster: Cluster) -> None:
    [kept] = api.create([group(minResources=None)])
    [share] = api.create([queue(reclaimable=None) | {"status": {"allocated": None}}])

    api.delete("PodGroup", "x", "default")
    assert kept["metadata"]["uid"]
    assert share["metadata"]["uid"]


@pytest.mark.parametrize(
    ("verb", "resource", "allowed"),
    [
        ("create", "pods --subresource=binding", "yes"),
        ("patch", "pods --subresource=status", "yes"),
        ("patch", "podgroups.scheduling.volcano.sh", "yes"),
        ("delete", "pods", "yes"),
        ("create", "pods", "no"),
        ("update", "nodes", "no"),
        ("get", "secrets", "no"),
        ("delete", "queues.scheduling.volcano.sh", "no"),
        ("create", "clusterroles", "no"),
    ],
)
def test_the_role_allows_what_a_scheduler_does_and_no_more(
    kubectl: Kubectl, installed: ControlPlane, verb: str, resource: str, allowed: str
) -> None:
    us = installed.service_account_kubeconfig("volcano-system", OUR_ACCOUNT)

    answer = kubectl("auth", "can-i", verb, *resource.split(), "-n", "default", kubeconfig=us, ok=False)

    assert answer.stdout.strip() == allowed
