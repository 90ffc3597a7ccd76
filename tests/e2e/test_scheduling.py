"""What the scheduler decides, seen from a real API server with the configuration and role of `deploy/`.

The scheduler starts after the objects are there where the outcome depends on what it sees in one session.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon

pytestmark = pytest.mark.controlplane


def test_a_gang_starts_whole_or_not_at_all(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(2, cpu=2)
    cluster.gang("fits", pods=3, cpu=1)
    cluster.gang("too-big", pods=5, cpu=1, min_resources=None)  # admitted all the same, then does not fit
    cluster.submit()

    daemon()

    cluster.wait(lambda: cluster.phase("fits") == "Running")
    cluster.wait(lambda: cluster.why("too-big"))
    cluster.wait(lambda: cluster.bound("fits") == 3)  # the phase is written beside the binds
    assert cluster.bound("too-big") == 0
    assert cluster.phase("too-big") in ("Pending", "Inqueue")


def test_a_waiting_gang_and_its_pods_say_why(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(1, cpu=2)
    cluster.gang("wide", pods=3, cpu=1, min_resources=None)
    cluster.submit()

    daemon()

    cluster.wait(lambda: all(cluster.condition(f"wide-{n}") for n in range(3)))
    cluster.wait(lambda: "tasks in gang unschedulable" in cluster.why("wide"))
    cluster.wait(lambda: any(event["reason"] == "FailedScheduling" for event in cluster.events("wide-0")))
    assert {cluster.condition(f"wide-{n}")["status"] for n in range(3)} == {"False"}


def test_a_gang_starts_when_the_node_it_lacked_arrives(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(1, cpu=2)
    cluster.gang("patient", pods=4, cpu=1)
    cluster.submit()
    daemon()
    cluster.wait(lambda: cluster.why("patient") or cluster.events("patient"))
    assert cluster.bound("patient") == 0

    cluster.nodes(1, cpu=2)
    cluster.submit()

    cluster.wait(lambda: cluster.bound("patient") == 4)
    cluster.wait(lambda: cluster.phase("patient") == "Running")


def test_two_queues_share_a_full_cluster_by_weight(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(3, cpu=4)
    cluster.queue("one-part", weight=1)
    cluster.queue("two-parts", weight=2)
    cluster.gang("small", pods=12, cpu=1, min_member=1, queue="one-part")
    cluster.gang("large", pods=12, cpu=1, min_member=1, queue="two-parts")
    cluster.submit()

    daemon()

    cluster.wait(lambda: cluster.bound() == 12)
    assert cluster.bound_of_gangs() == {"small": 4, "large": 8}
    cluster.wait(lambda: cluster.allocated("two-parts").get("cpu") == "8")
    cluster.wait(lambda: cluster.allocated("one-part").get("cpu") == "4")


def test_the_gang_of_higher_priority_goes_first(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(1, cpu=2)
    cluster.priority_class("low", 10)
    cluster.priority_class("high", 100)
    cluster.gang("early", pods=2, cpu=1, priority_class="low")
    cluster.submit()
    cluster.gang("urgent", pods=2, cpu=1, priority_class="high")
    cluster.submit()

    daemon()

    cluster.wait(lambda: cluster.bound("urgent") == 2)
    cluster.wait(lambda: cluster.why("early") or cluster.events("early"))
    assert cluster.bound("early") == 0


def test_a_gated_gang_waits_for_its_gates(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(1, cpu=4)
    cluster.gang("gated", pods=2, cpu=1, gates=["example.com/approval"])
    cluster.gang("free", pods=2, cpu=1)
    cluster.submit()
    daemon()
    cluster.wait(lambda: cluster.bound("free") == 2)
    assert cluster.bound("gated") == 0
    assert cluster.condition("gated-0")["reason"] == "SchedulingGated"

    for pod in cluster.pods("gated"):
        open_gate: dict[str, Any] = {"spec": {"schedulingGates": []}}
        cluster.api.merge("Pod", pod["metadata"]["name"], open_gate, cluster.default_namespace)

    cluster.wait(lambda: cluster.bound("gated") == 2)


def test_room_that_finished_pods_leave_is_used_again(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(1, cpu=2)
    cluster.gang("first", pods=2, cpu=1, run_seconds=1)
    cluster.submit()
    daemon()
    cluster.wait(lambda: cluster.bound("first") == 2)

    cluster.gang("second", pods=2, cpu=1)
    cluster.submit()

    cluster.wait(lambda: cluster.bound("second") == 2)
    cluster.wait(lambda: cluster.phase("first") == "Completed")


def test_pods_without_a_podgroup_are_placed_too(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(1, cpu=2)
    cluster.pod("bare", cpu=1)
    cluster.pod("best-effort")
    cluster.submit()

    daemon()

    cluster.wait(lambda: cluster.bound() == 2)
