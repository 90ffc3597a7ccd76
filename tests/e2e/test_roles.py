"""The daemon does all it has to under our role, and under the very role of the scheduler it replaces."""

from __future__ import annotations

import pytest

from tests.controlplane import audit
from tests.controlplane.launch import ControlPlane
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import OUR_ACCOUNT, REFERENCE_ACCOUNT, StartDaemon

pytestmark = pytest.mark.controlplane


@pytest.mark.parametrize(
    "account",
    [pytest.param(OUR_ACCOUNT, id="our role"), pytest.param(REFERENCE_ACCOUNT, id="the reference's role")],
)
def test_the_role_is_enough_for_all_that_is_written(cluster: Cluster, daemon: StartDaemon, account: str) -> None:
    cluster.nodes(1, cpu=4)
    cluster.queue("research")
    cluster.gang("fits", pods=2, cpu=1, queue="research")
    cluster.gang("wide", pods=5, cpu=1, min_resources=None)
    cluster.submit()

    scheduler = daemon("--leader-elect=true", account=account)

    cluster.wait(cluster.leader)
    cluster.wait(lambda: cluster.phase("fits") == "Running")
    cluster.wait(lambda: cluster.group("fits")["status"].get("running") == 2)
    cluster.wait(lambda: cluster.allocated("research").get("cpu") == "2")
    # Those that had room in the last try are told Schedulable, the others Unschedulable.
    cluster.wait(lambda: "Unschedulable" in {cluster.condition(f"wide-{n}").get("reason") for n in range(5)})
    cluster.wait(lambda: "tasks in gang unschedulable" in cluster.why("wide"))
    cluster.wait(lambda: any(event["reason"] == "Scheduled" for event in cluster.events("fits-0")))
    cluster.wait(lambda: any(event["reason"] == "Unschedulable" for event in cluster.events("wide")))
    assert {"root", "default"} <= {queue["metadata"]["name"] for queue in cluster.api.list("Queue")}
    assert "volcano_e2e_scheduling_latency_milliseconds" in scheduler.metrics()
    assert scheduler.terminate() == 0


def test_nothing_is_asked_that_our_role_forbids(installed: ControlPlane, cluster: Cluster, daemon: StartDaemon) -> None:
    asked_before = len(installed.asked())
    cluster.nodes(1, cpu=4)
    cluster.gang("fits", pods=2, cpu=1)
    cluster.submit()

    daemon("--leader-elect=true")

    cluster.wait(lambda: cluster.phase("fits") == "Running")
    us = f"system:serviceaccount:volcano-system:{OUR_ACCOUNT}"

    def ours() -> list[audit.Request]:
        return [asked for asked in installed.asked()[asked_before:] if asked.user == us]

    # The server writes its log after it has answered.
    cluster.wait(lambda: {asked.resource for asked in ours()} >= {"pods/binding", "podgroups", "leases"})
    assert [asked for asked in ours() if asked.code == 403] == []
