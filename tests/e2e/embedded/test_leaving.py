"""Pods that take all of their grace period to stop, or that the API server does not let go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon
from tests.e2e.daemon import CONFIGURATION
from tests.e2e.evicting import PREEMPT, classes, evicted, runs, start
from vcsched.simulator.cluster import ApiServer, Settings
from vcsched.simulator.kubelet import Pace


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """Pods stop when their grace period ends."""
    with ApiServer(settings=Settings(pace=Pace(start_s=0.02, stop_s=1000.0))) as server:
        yield server


def test_victims_that_take_their_thirty_seconds_are_not_joined_by_others(cluster: Cluster, daemon: StartDaemon) -> None:
    """These are three hundred sessions; one pod was needed, one goes, and its room is kept for whom it was made."""
    classes(cluster)
    cluster.nodes(2, cpu=2)
    cluster.gang("low", pods=4, cpu=1, min_member=1, priority_class="low")
    owner = start(cluster, daemon, PREEMPT, "low")
    cluster.gang("high", cpu=1, priority_class="high")
    cluster.submit()
    owner.wait(lambda: any(pod["status"].get("nominatedNodeName") for pod in cluster.pods("high")))
    said = "room for 1 of 1 is promised; pods that still leave there: 1"
    owner.wait(lambda: said in cluster.why("high"))

    owner.wait(lambda: runs(cluster, "high") == 1 and owner.lost)

    assert len(evicted(cluster)) == len(owner.lost) == 1
    assert runs(cluster, "low") == 3


@pytest.mark.parametrize("least", [1, 2])
def test_a_gang_of_which_a_pod_is_leaving_is_still_running(cluster: Cluster, daemon: StartDaemon, least: int) -> None:
    cluster.nodes(1, cpu=2)
    cluster.gang("g", pods=2, cpu=1, min_member=least, grace_s=300)
    owner = start(cluster, daemon, CONFIGURATION, "g")
    cluster.wait(lambda: cluster.phase("g") == "Running")
    cluster.api.delete("Pod", "g-0", cluster.default_namespace)
    cluster.wait(lambda: runs(cluster, "g") == 1)

    owner.stays(lambda: cluster.phase("g") == "Running" and not cluster.why("g"))

    assert owner.lost == []


def test_a_pod_that_a_webhook_keeps_is_not_asked_for_without_end_and_is_as_ready_as_before(
    cluster: Cluster, daemon: StartDaemon, server: ApiServer
) -> None:
    classes(cluster)
    cluster.nodes(1, cpu=2)
    cluster.gang("kept", cpu=1, priority_class="low", grace_s=1)
    scheduler = daemon(configuration=PREEMPT)
    cluster.submit()
    cluster.wait(lambda: runs(cluster, "kept") == 1)
    refused = server.fault(verb="delete", resource="pods", name="kept-*", code=403, count=None)
    cluster.gang("high", pods=2, cpu=1, priority_class="high", grace_s=1)
    cluster.submit()

    cluster.wait(lambda: "is left alone for 2 s" in scheduler.log)
    assert refused.hits >= 2
    assert "pod embedded/kept-0 could not be evicted" in scheduler.log
    cluster.wait(lambda: any(each["reason"] == "EvictionRefused" for each in cluster.events("high")))
    shown = {"DisruptionTarget": "False", "Ready": "True"}  # taken back after each refusal
    cluster.wait(lambda: shown == {kind: cluster.condition("kept-0", kind).get("status") for kind in shown})
    assert evicted(cluster) == []
    cluster.wait(lambda: refused.hits >= 3)
    server.call(lambda simulation: simulation.faults.clear())
    cluster.wait(lambda: runs(cluster, "high") == 2)
    counted = 'vcsched_evictions_total{action="preempt",for_queue="default",outcome="%s",queue="default"} %s'
    cluster.wait(lambda: counted % ("refused", f"{refused.hits}.0") in scheduler.metrics())
    cluster.wait(lambda: counted % ("deleted", "1.0") in scheduler.metrics())
