"""Preempt, seen from the API server: the rows of spec 08 §10.2, with pods that are made anew."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon
from tests.e2e.evicting import PREEMPT, TOPOLOGY_AWARE, classes, evicted, runs, start

pytestmark = pytest.mark.controlplane


def test_preempt_has_nothing_to_do_where_there_is_room_for_both(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(2, cpu=2)
    cluster.gang("low", cpu=1, priority_class="low")
    owner = start(cluster, daemon, PREEMPT, "low")
    cluster.gang("high", cpu=1, priority_class="high")
    cluster.submit()

    owner.stays(lambda: runs(cluster, "high") == 1 and runs(cluster, "low") == 1)

    assert evicted(cluster) == []


def test_preempt_takes_what_a_gang_needs_in_its_queue(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(2, cpu=2)
    cluster.gang("low", pods=4, cpu=1, min_member=1, priority_class="low")
    owner = start(cluster, daemon, PREEMPT, "low")
    cluster.gang("high", pods=4, cpu=1, min_member=2, priority_class="high")
    cluster.submit()

    owner.stays(lambda: runs(cluster, "high") == 2 and runs(cluster, "low") == 2)

    assert len(owner.lost) == 2


def test_preempt_leaves_other_queues_alone(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(2, cpu=2)
    cluster.queue("q1")
    cluster.queue("q2")
    cluster.gang("mine", pods=2, cpu=1, min_member=1, queue="q1", priority_class="low")
    cluster.gang("other", pods=2, cpu=1, min_member=1, queue="q2", priority_class="low")
    owner = start(cluster, daemon, PREEMPT, "mine", "other")
    cluster.gang("high", pods=2, cpu=1, queue="q1", priority_class="high")
    cluster.submit()

    owner.stays(lambda: runs(cluster, "high") == 2 and runs(cluster, "other") == 2)

    assert {name.partition("-")[0] for name in owner.lost} == {"mine"}


def test_preempt_that_cannot_be_enough_evicts_nobody(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(2, cpu=2)
    cluster.queue("q1")
    cluster.queue("q2")
    cluster.gang("mine", pods=1, cpu=1, queue="q1", priority_class="low")
    cluster.gang("other", pods=3, cpu=1, min_member=1, queue="q2", priority_class="low")
    owner = start(cluster, daemon, PREEMPT, "mine", "other")
    cluster.gang("high", pods=4, cpu=1, queue="q1", priority_class="high")
    cluster.submit()

    owner.stays(lambda: runs(cluster, "mine") + runs(cluster, "other") == 4)

    assert evicted(cluster) == []


def test_a_pod_of_a_group_that_is_not_admitted_preempts_nobody(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(1, cpu=2)
    cluster.gang("low", pods=2, cpu=1, min_member=1, priority_class="low")
    owner = start(cluster, daemon, PREEMPT.replace("allocate,", "enqueue, allocate,", 1), "low")
    cluster.gang("huge", pods=1, cpu=1, min_resources={"cpu": 30}, priority_class="high")
    cluster.submit()

    owner.stays(lambda: runs(cluster, "low") == 2)

    assert cluster.phase("huge") in ("", "Pending")
    assert evicted(cluster) == []


def test_who_is_in_the_way_goes_though_bystanders_are_lower(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(3, cpu=4)
    host = "kubernetes.io/hostname"

    def term(app: str) -> dict[str, Any]:
        listed = [{"topologyKey": host, "labelSelector": {"matchLabels": {"app": app}}}]
        return {"requiredDuringSchedulingIgnoredDuringExecution": listed}

    def gang(app: str, pods: int, least: int, priority: str, affinity: dict[str, Any], cpu: int = 1) -> None:
        cluster.gang(
            app, pods=pods, min_member=least, cpu=cpu, priority_class=priority, labels={"app": app},
            affinity=affinity, min_resources=None,
        )  # fmt: skip

    gang("blocker", 3, 1, "mid", {"podAntiAffinity": term("blocker")})
    owner = start(cluster, daemon, TOPOLOGY_AWARE, "blocker")
    gang("bystander", 3, 1, "low", {"podAntiAffinity": term("bystander"), "podAffinity": term("blocker")})
    cluster.submit()
    owner.wait(lambda: runs(cluster, "bystander") == 3)
    gang("high", 2, 2, "high", {"podAntiAffinity": term("blocker")}, cpu=3)
    cluster.submit()

    owner.stays(
        lambda: runs(cluster, "high") == 2 and runs(cluster, "blocker") == 1 and runs(cluster, "bystander") == 3
    )
