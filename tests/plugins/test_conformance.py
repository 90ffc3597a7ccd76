"""Conformance: critical pods are no victims (spec 05 §5, §20.1)."""

from __future__ import annotations

from tests.plugins.asking import tasks, world_with
from vcsched.framework.points import EvictionContext


def test_critical_pods_and_those_of_the_system_are_never_victims() -> None:
    world = world_with("conformance")
    world.nodes(1, cpu=10)
    world.running("plain", on="n-0")
    world.running("cluster", on="n-0", priority_class="system-cluster-critical")
    world.running("node", on="n-0", priority_class="system-node-critical")
    world.running("dns", on="n-0", namespace="kube-system")
    ssn = world.open()
    evictor = tasks(world, "plain")[0]
    dns = list(world.job("dns", "kube-system").tasks.values())
    candidates = [*tasks(world, "cluster"), *dns, *tasks(world, "plain"), *tasks(world, "node")]
    context = EvictionContext("gangreclaim", world.job("plain"), None, "")

    assert ssn.preemptable(evictor, candidates) == tasks(world, "plain")
    assert ssn.reclaimable(evictor, candidates) == tasks(world, "plain")
    assert ssn.unified_evictable(context, candidates) == tasks(world, "plain")
