"""A scheduler that dies, hands over or is told to change its mind loses no pod and breaks no gang."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.controlplane.launch import ControlPlane
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon
from tests.e2e.daemon import CONFIGURATION

pytestmark = pytest.mark.controlplane

SHORT_LEASE = (
    "--leader-elect=true",
    "--leader-elect-lease-duration=6s",  # a busy machine may let a leader wait for seconds
    "--leader-elect-renew-deadline=5s",
    "--leader-elect-retry-period=300ms",
)


def bindings(plane: ControlPlane, cluster: Cluster) -> Counter[str]:
    """How often each pod of the test was bound, by the API server's own account."""
    return Counter(
        asked.name
        for asked in plane.asked()
        if asked.resource == "pods/binding" and asked.namespace == cluster.default_namespace and asked.code == 201
    )


def test_a_scheduler_killed_in_mid_burst_leaves_nothing_half_done(
    installed: ControlPlane, cluster: Cluster, daemon: StartDaemon
) -> None:
    cluster.nodes(30, cpu=20)  # room for 30 of the 50 gangs
    for number in range(50):
        cluster.gang(f"g{number}", pods=20, cpu=1)
    submitted = {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in cluster.submit() if pod["kind"] == "Pod"}
    first = daemon("--kube-api-qps=50", "--kube-api-burst=200", ready="/healthz")  # all 600 binds would take 8 s
    cluster.wait(lambda: cluster.bound() >= 100)

    first.kill()

    assert cluster.bound() < 600
    daemon()
    cluster.wait(lambda: cluster.bound() == 600)
    cluster.wait(lambda: all(cluster.why(gang) or cluster.events(gang) for gang in waiting(cluster)))
    assert set(cluster.bound_of_gangs().values()) == {20}
    assert {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in cluster.pods()} == submitted
    assert bindings(installed, cluster).most_common(1)[0][1] == 1
    assert cluster.overfilled() == []


def waiting(cluster: Cluster) -> list[str]:
    return [f"g{number}" for number in range(50) if f"g{number}" not in cluster.bound_of_gangs()]


def test_when_the_leader_dies_the_other_replica_goes_on(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(1, cpu=4)
    leader = daemon(*SHORT_LEASE)
    cluster.wait(cluster.leader)
    standby = daemon(*SHORT_LEASE, ready="/healthz")
    cluster.gang("before", pods=2, cpu=1)
    cluster.submit()
    cluster.wait(lambda: cluster.bound("before") == 2)
    old = cluster.leader()

    leader.kill()
    cluster.gang("after", pods=2, cpu=1)
    cluster.submit()

    cluster.wait(lambda: cluster.bound("after") == 2)
    assert cluster.leader() not in ("", old)
    cluster.wait(lambda: standby.answers("/readyz"))


def test_a_leader_that_is_asked_to_stop_hands_the_lease_over(cluster: Cluster, daemon: StartDaemon) -> None:
    long_lease = (
        "--leader-elect=true",
        "--leader-elect-lease-duration=10m",
        "--leader-elect-retry-period=300ms",
    )
    cluster.nodes(1, cpu=4)
    leader = daemon(*long_lease)
    cluster.wait(cluster.leader)
    daemon(*long_lease, ready="/healthz")
    old = cluster.leader()

    assert leader.terminate() == 0

    cluster.wait(lambda: cluster.leader() not in ("", old))


def test_a_changed_configuration_is_used_and_a_broken_one_is_not(cluster: Cluster, daemon: StartDaemon) -> None:
    admits_only = CONFIGURATION.replace("enqueue, allocate, backfill", "enqueue")
    cluster.nodes(1, cpu=4)
    cluster.gang("one", pods=2, cpu=1)
    cluster.submit()
    scheduler = daemon(configuration=admits_only)
    cluster.wait(lambda: cluster.phase("one") == "Inqueue")
    assert cluster.bound() == 0

    scheduler.configure(CONFIGURATION)

    cluster.wait(lambda: cluster.bound("one") == 2)

    scheduler.configure('actions: "enqueue, alocate"\n')
    cluster.wait(lambda: "alocate" in scheduler.log)
    cluster.gang("two", pods=2, cpu=1)
    cluster.submit()

    cluster.wait(lambda: cluster.bound("two") == 2)
