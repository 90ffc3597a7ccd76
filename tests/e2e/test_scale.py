"""A large burst against a real API server: 1,000 nodes and 10,000 pods in 100 gangs."""

from __future__ import annotations

import time

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon

pytestmark = pytest.mark.controlplane

NODES, GANGS, PODS = 1000, 100, 100


def test_ten_thousand_pods_are_bound_on_a_thousand_nodes(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.kubelet.run = False  # the pods stay bound: their start would be half of all writes
    cluster.nodes(NODES, cpu=16)
    for number in range(GANGS):
        cluster.gang(f"g{number}", pods=PODS, cpu=1, memory="1Gi")
    begun = time.monotonic()
    cluster.submit()
    submitted = time.monotonic()
    print(f"{len(cluster)} objects created, {len(cluster) / (submitted - begun):.0f} a second")

    daemon(ready="/healthz")

    cluster.wait(lambda: cluster.bound() == GANGS * PODS, timeout_s=300)
    took = time.monotonic() - submitted
    print(f"{GANGS * PODS} pods bound, {GANGS * PODS / took:.0f} a second from the start of the process on")
    assert cluster.overfilled() == []
    cluster.wait(lambda: all(cluster.phase(f"g{number}") == "Running" for number in range(GANGS)))
