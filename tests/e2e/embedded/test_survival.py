"""A scheduler that dies, hands over, loses its lease or is told to end leaves no gang in pieces."""

from __future__ import annotations

import signal

from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon
from tests.e2e.test_survival import (
    SHORT_LEASE,
    test_a_changed_configuration_is_used_and_a_broken_one_is_not,
    test_a_leader_that_is_asked_to_stop_hands_the_lease_over,
    test_when_the_leader_dies_the_other_replica_goes_on,
    waiting,
)
from vcsched.simulator.cluster import ApiServer

__all__ = [
    "test_a_changed_configuration_is_used_and_a_broken_one_is_not",
    "test_a_leader_that_is_asked_to_stop_hands_the_lease_over",
    "test_when_the_leader_dies_the_other_replica_goes_on",
]


def burst(cluster: Cluster, server: ApiServer, answered: int | None = None) -> dict[str, str]:
    """50 gangs of 20 pods, room for 30 of them, and binds that take a while; the pods' uids by name.

    Binds after the first `answered` wait for a minute, so that nobody comes too late to see the burst.
    """
    slow = {"verb": "create", "resource": "pods/binding", "action": "latency"}
    server.fault(**slow, seconds=0.05, count=answered)
    server.fault(**slow, seconds=60, count=None)
    cluster.nodes(30, cpu=20)
    for number in range(50):
        cluster.gang(f"g{number}", pods=20, cpu=1)
    return {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in cluster.submit() if pod["kind"] == "Pod"}


def test_a_scheduler_killed_in_mid_burst_leaves_nothing_half_done(
    server: ApiServer, cluster: Cluster, daemon: StartDaemon
) -> None:
    submitted = burst(cluster, server, answered=70)
    first = daemon(ready="/healthz")
    cluster.wait(lambda: cluster.bound() >= 50)

    first.kill()

    assert cluster.bound() < 600
    server.call(lambda simulation: simulation.faults.clear())
    daemon()
    cluster.wait(lambda: cluster.bound() == 600)
    cluster.wait(lambda: all(cluster.why(gang) or cluster.events(gang) for gang in waiting(cluster)))
    assert set(cluster.bound_of_gangs().values()) == {20}
    assert {pod["metadata"]["name"]: pod["metadata"]["uid"] for pod in cluster.pods()} == submitted
    assert cluster.overfilled() == []


def test_gangs_that_a_crash_left_in_pieces_are_completed_before_others_start(
    cluster: Cluster, daemon: StartDaemon
) -> None:
    cluster.nodes(1, cpu=8)
    cluster.gang("new", pods=4, cpu=1)
    cluster.gang("torn-a", pods=4, cpu=1, on=["n-0"])
    cluster.gang("torn-b", pods=4, cpu=1, on=["n-0"])
    cluster.submit()

    daemon()

    cluster.wait(lambda: cluster.bound() == 8)
    assert cluster.bound_of_gangs() == {"torn-a": 4, "torn-b": 4}


def test_a_scheduler_asked_to_end_in_mid_burst_writes_what_it_decided(
    server: ApiServer, cluster: Cluster, daemon: StartDaemon
) -> None:
    burst(cluster, server)
    scheduler = daemon(ready="/healthz")
    cluster.wait(lambda: cluster.bound() >= 50)

    assert scheduler.terminate() == 0

    cluster.wait(lambda: set(cluster.bound_of_gangs().values()) == {20})
    assert cluster.overfilled() == []


def test_a_second_signal_does_not_wait_for_writes(server: ApiServer, cluster: Cluster, daemon: StartDaemon) -> None:
    server.fault(verb="create", resource="pods/binding", action="latency", seconds=60, count=None)
    cluster.nodes(1, cpu=2)
    cluster.gang("slow", pods=2, cpu=1)
    cluster.submit()
    scheduler = daemon()
    cluster.wait(lambda: server.requests().get("create pods/binding", 0) == 2)

    scheduler.send(signal.SIGTERM)
    cluster.wait(lambda: "SIGTERM: ending" in scheduler.log)

    assert scheduler.terminate() == 1


def test_a_leader_that_cannot_renew_ends_and_the_other_goes_on(
    server: ApiServer, cluster: Cluster, daemon: StartDaemon
) -> None:
    cluster.nodes(1, cpu=4)
    leader = daemon(*SHORT_LEASE)
    cluster.wait(cluster.leader)
    old = cluster.leader()
    server.fault(verb="update", resource="leases.coordination.k8s.io", code=500, count=None)

    assert leader.wait() == 255

    assert "leaderelection lost" in leader.log
    server.call(lambda simulation: simulation.faults.clear())
    daemon(*SHORT_LEASE)
    cluster.gang("after", pods=2, cpu=1)
    cluster.submit()
    cluster.wait(lambda: cluster.bound("after") == 2)
    assert cluster.leader() not in ("", old)
