"""Every kind of write through `vcsched.kube`, on a real API server, under either role.

The role of the reference has no patch on PodGroups, Queue status and pod status and no get on PodGroups
(spec 08 §8.1): the same result has to come about the longer way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.launch import ControlPlane
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import OUR_ACCOUNT, REFERENCE_ACCOUNT
from vcsched.kube.apply import Applier
from vcsched.kube.client import Client
from vcsched.kube.config import Login
from vcsched.kube.events import Recorder
from vcsched.kube.gate import Gate
from vcsched.kube.link import (
    Bind,
    Condition,
    Event,
    Evict,
    Link,
    Outbound,
    PodGroupStatus,
    PodStatus,
    QueueStatus,
    Reference,
    Wrote,
)
from vcsched.kube.settings import Patience
from vcsched.kube.writer import Writer

pytestmark = pytest.mark.controlplane

Obj = dict[str, Any]
Write = Callable[..., list[Wrote]]

UNSCHEDULABLE = Condition("PodScheduled", "False", "Unschedulable", "no room")


@pytest.fixture(
    params=[
        pytest.param(OUR_ACCOUNT, id="our role"),
        pytest.param(REFERENCE_ACCOUNT, id="the reference's role"),
    ]
)
def write(request: pytest.FixtureRequest, installed: ControlPlane, cluster: Cluster) -> Write:
    """`write(message, …)` brings the messages to the server and returns how each numbered one ended."""
    kubeconfig = installed.service_account_kubeconfig("volcano-system", request.param)
    return lambda *messages: asyncio.run(_write(kubeconfig, messages))


async def _write(kubeconfig: Path, messages: tuple[Outbound, ...]) -> list[Wrote]:
    link, gate = Link(), Gate()
    client = Client(Login.load(str(kubeconfig)), gate=gate)
    await client.open()
    recorder = Recorder(client, "volcano")
    writer = Writer(link, Applier(client, {}, recorder.record), recorder, gate, patience=Patience(events_s=60.0))
    try:
        link.send(messages)
        assert await writer.drain(60)
    finally:
        await writer.stop()
        await client.close()
    return [message for message in link.drain() if isinstance(message, Wrote)]


def pod(cluster: Cluster, name: str) -> Obj:
    return cluster.api.get("Pod", name, cluster.default_namespace)


def identity(obj: Obj) -> tuple[str, str, str]:
    meta = obj["metadata"]
    return meta["namespace"], meta["name"], meta["uid"]


def submitted(cluster: Cluster, kind: str) -> Obj:
    return next(obj for obj in cluster.submit() if obj["kind"] == kind)


def test_a_pod_is_bound_with_its_annotations_and_an_event(cluster: Cluster, write: Write) -> None:
    cluster.nodes(1)
    cluster.pod("p", annotations={"kept": "yes"})
    waiting = submitted(cluster, "Pod")

    [done] = write(Bind(1, *identity(waiting), node="n-0", annotations={"kept": "yes", "added": "too"}))

    assert (done.ok, done.no) == (True, 1)
    assert pod(cluster, "p")["spec"]["nodeName"] == "n-0"
    assert pod(cluster, "p")["metadata"]["annotations"] == {"kept": "yes", "added": "too"}
    [event] = cluster.events("p")
    assert event["message"] == f"Successfully assigned {cluster.default_namespace}/p to n-0"
    assert event["source"]["component"] == "volcano"


def test_a_pod_is_not_bound_again_nor_is_its_namesake(cluster: Cluster, write: Write) -> None:
    cluster.nodes(2)
    cluster.pod("p")
    namespace, name, uid = identity(submitted(cluster, "Pod"))

    write(Bind(1, namespace, name, uid, node="n-0"))
    [again] = write(Bind(2, namespace, name, uid, node="n-1"))
    [repeated] = write(Bind(3, namespace, name, uid, node="n-0"))
    [other] = write(Bind(4, namespace, name, "00000000-0000-0000-0000-000000000000", node="n-1"))

    assert (again.ok, repeated.ok, other.ok) == (False, True, False)
    assert pod(cluster, "p")["spec"]["nodeName"] == "n-0"


def test_a_bind_of_a_pod_that_is_gone_ends_at_once(cluster: Cluster, write: Write) -> None:
    cluster.namespace(cluster.default_namespace)
    cluster.submit()

    [done] = write(Bind(1, cluster.default_namespace, "nobody", "0-0", node="n-0"))

    assert (done.ok, done.status) == (False, 404)


def test_an_evicted_pod_carries_the_reason_until_it_is_gone(cluster: Cluster, write: Write) -> None:
    cluster.kubelet.run = False
    cluster.nodes(1)
    cluster.pod("p", node="n-0", grace_s=300)
    victim = submitted(cluster, "Pod")
    conditions = (
        Condition("Ready", "False", "Evict", "Pod is evicted, because of preempt"),
        Condition("DisruptionTarget", "True", "PreemptionByScheduler", "volcano: preempting"),
    )

    [done] = write(Evict(1, *identity(victim), conditions, "Pod is evicted, because of preempt"))

    leaving = pod(cluster, "p")
    assert done.ok
    assert leaving["metadata"]["deletionGracePeriodSeconds"] == 300
    reasons = {each["type"]: each["reason"] for each in leaving["status"]["conditions"]}
    assert reasons == {"Ready": "Evict", "DisruptionTarget": "PreemptionByScheduler"}
    assert [event["reason"] for event in cluster.events("p")] == ["Evict"]


def test_a_namesake_of_the_victim_is_left_alone(cluster: Cluster, write: Write) -> None:
    cluster.nodes(1)
    cluster.pod("p", node="n-0")
    cluster.submit()

    [done] = write(Evict(1, cluster.default_namespace, "p", "00000000-0000-0000-0000-000000000000", (), "gone"))

    assert done.ok  # that very pod is not there any more
    assert "deletionTimestamp" not in pod(cluster, "p")["metadata"]


def test_a_condition_and_a_nomination_leave_other_conditions(cluster: Cluster, write: Write) -> None:
    cluster.pod("p")
    waiting = submitted(cluster, "Pod")
    foreign = {"type": "example.com/checked", "status": "True"}
    where = f"api/v1/namespaces/{cluster.default_namespace}/pods/p/status"
    cluster.api.call(cluster.api.request("PATCH", where, {"status": {"conditions": [foreign]}}))

    [done] = write(PodStatus(1, *identity(waiting), (UNSCHEDULABLE,), nominated="n-7"))

    status = pod(cluster, "p")["status"]
    assert done.ok
    assert {each["type"] for each in status["conditions"]} == {"example.com/checked", "PodScheduled"}
    assert status["nominatedNodeName"] == "n-7"
    [cleared] = write(PodStatus(2, *identity(waiting), (), nominated=""))
    assert cleared.ok
    assert "nominatedNodeName" not in pod(cluster, "p")["status"]


def test_a_podgroups_status_is_written_and_the_rest_left(cluster: Cluster, write: Write) -> None:
    cluster.gang("g", pods=2, group_annotations={"theirs": "kept"})
    group = submitted(cluster, "PodGroup")
    version = group["metadata"]["resourceVersion"]
    condition = {"type": "Unschedulable", "status": "True", "reason": "NotEnoughResources", "message": "no"}
    status = {"phase": "Inqueue", "conditions": [condition], "running": 1}

    [done] = write(PodGroupStatus(1, *identity(group), version, status, {"volcano.sh/ours": "new"}, ("Unschedulable",)))

    kept = cluster.group("g")
    assert done.ok
    assert kept["status"] == status
    assert kept["spec"] == group["spec"]
    assert kept["metadata"]["annotations"] == {"theirs": "kept", "volcano.sh/ours": "new"}


def test_a_status_decided_on_an_old_podgroup_keeps_what_was_changed_since(cluster: Cluster, write: Write) -> None:
    cluster.gang("g", pods=2)
    group = submitted(cluster, "PodGroup")
    old = group["metadata"]["resourceVersion"]
    cluster.api.merge("PodGroup", "g", {"spec": {"minMember": 7}}, cluster.default_namespace)
    condition = {"type": "Scheduled", "status": "True", "message": "tasks in gang are ready to be scheduled"}

    status = {"phase": "Running", "conditions": [condition]}
    [done] = write(PodGroupStatus(1, *identity(group), old, status, said=("Scheduled",)))

    kept = cluster.group("g")
    assert done.ok
    assert kept["spec"]["minMember"] == 7
    assert kept["status"]["phase"] == "Running"
    assert [each["type"] for each in kept["status"]["conditions"]] == ["Scheduled"]


def test_a_queue_keeps_its_state_and_loses_what_is_not_allocated_any_more(cluster: Cluster, write: Write) -> None:
    cluster.queue("q", state="Open")
    cluster.submit()

    [first] = write(QueueStatus(1, "q", {"cpu": "2", "example.com/gpu": "1"}))
    [second] = write(QueueStatus(2, "q", {"cpu": "1", "memory": "1Gi"}))

    assert (first.ok, second.ok) == (True, True)
    assert cluster.api.get("Queue", "q")["status"] == {
        "state": "Open",
        "allocated": {"cpu": "1", "memory": "1Gi"},
    }


def test_a_repeated_event_is_one_event_that_counts(cluster: Cluster, write: Write) -> None:
    cluster.gang("g")
    group = submitted(cluster, "PodGroup")
    about = Reference("PodGroup", *identity(group), api_version="scheduling.volcano.sh/v1beta1")
    unschedulable = Event(about, "Warning", "Unschedulable", "1/1 tasks in gang unschedulable: no room")

    write(*[unschedulable] * 3)

    [event] = cluster.events("g")
    assert (event["count"], event["type"], event["reason"]) == (3, "Warning", "Unschedulable")


def test_no_write_leaves_through_a_shut_gate(installed: ControlPlane, cluster: Cluster) -> None:
    cluster.nodes(1)
    cluster.pod("p")
    waiting = submitted(cluster, "Pod")

    async def late() -> list[object]:
        link, gate = Link(), Gate()
        client = Client(Login.load(str(installed.admin)), gate=gate)
        await client.open()
        recorder = Recorder(client, "volcano")
        writer = Writer(link, Applier(client, {}, recorder.record), recorder, gate)
        gate.shut("the lease went to another replica")
        link.send([Bind(1, *identity(waiting), node="n-0")])
        await writer.drain(5)
        await client.close()
        return list(link.drain())

    [done] = asyncio.run(late())

    assert isinstance(done, Wrote)
    assert not done.ok
    assert "nodeName" not in pod(cluster, "p")["spec"]
