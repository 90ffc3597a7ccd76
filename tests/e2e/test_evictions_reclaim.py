"""Reclaim, seen from the API server: the rows of spec 08 §10.2, with pods that are made anew."""

from __future__ import annotations

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon
from tests.e2e.evicting import ADMIT_ALL, CAPACITY, RECLAIM, TREE, classes, evicted, runs, start

pytestmark = pytest.mark.controlplane


def test_reclaim_has_nothing_to_do_where_a_node_is_free(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(3, cpu=1)
    cluster.queue("q1", reclaimable=False)
    cluster.queue("q2", reclaimable=False)
    cluster.queue("q3")
    cluster.gang("j1", cpu=1, queue="q1")
    cluster.gang("j2", cpu=1, queue="q2")
    owner = start(cluster, daemon, RECLAIM, "j1", "j2")
    cluster.gang("j3", cpu=1, queue="q3")
    cluster.submit()

    owner.stays(lambda: all(runs(cluster, gang) == 1 for gang in ("j1", "j2", "j3")))

    assert evicted(cluster) == []


def test_reclaim_leaves_a_job_of_a_queue_with_its_share_waiting(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(3, cpu=1)
    for number in (1, 2, 3):
        cluster.queue(f"q{number}")
        cluster.gang(f"j{number}", cpu=1, queue=f"q{number}")
    owner = start(cluster, daemon, ADMIT_ALL, "j1", "j2", "j3")
    cluster.gang("j4", cpu=1, queue="q3")
    cluster.submit()

    owner.stays(lambda: cluster.phase("j4") == "Inqueue" and all(runs(cluster, f"j{n}") == 1 for n in (1, 2, 3)))

    assert evicted(cluster) == []


def test_queues_that_have_a_pod_each_keep_it(cluster: Cluster, daemon: StartDaemon) -> None:
    cluster.nodes(4, cpu=1)
    for number, queue in enumerate(["default", "q2", "q3"], 1):
        if queue != "default":
            cluster.queue(queue)
        cluster.gang(f"j{number}", cpu=1, queue=queue)
    owner = start(cluster, daemon, RECLAIM, "j1", "j2", "j3")

    owner.stays(lambda: all(cluster.phase(f"j{number}") == "Running" for number in (1, 2, 3)))

    assert evicted(cluster) == []


def test_a_job_of_a_queue_that_does_not_exist_says_so_and_takes_nothing(cluster: Cluster, daemon: StartDaemon) -> None:
    """Where no webhook refuses it: the scheduler runs without one."""
    cluster.nodes(2, cpu=1)
    for number in (1, 2):
        cluster.queue(f"q{number}")
        cluster.gang(f"j{number}", cpu=1, queue=f"q{number}")
    owner = start(cluster, daemon, ADMIT_ALL, "j1", "j2")
    cluster.gang("lost", cpu=1, queue="nowhere")
    cluster.submit()

    said = "queue nowhere does not exist"
    owner.wait(lambda: any(said in each["message"] for each in cluster.events("lost")))
    owner.stays(lambda: said in cluster.condition("lost-0").get("message", ""))

    assert all(runs(cluster, f"j{number}") == 1 for number in (1, 2))
    assert evicted(cluster) == []


def test_a_pod_that_somebody_else_put_on_a_node_we_do_not_know_counts_as_running(
    cluster: Cluster, daemon: StartDaemon
) -> None:
    cluster.nodes(1, cpu=1)
    cluster.queue("q1")
    cluster.gang("here", cpu=1, queue="q1")
    owner = start(cluster, daemon, RECLAIM, "here")
    elsewhere = cluster.gang("elsewhere", cpu=1, queue="default")
    elsewhere.pods[0]["spec"]["nodeName"] = "fake-node"
    cluster.submit()

    owner.stays(lambda: cluster.phase("elsewhere") == "Running" and runs(cluster, "here") == 1)

    assert evicted(cluster) == []


def test_a_job_that_fits_no_node_is_admitted_and_reclaims_nothing(cluster: Cluster, daemon: StartDaemon) -> None:
    """Admission counts all nodes, also the one that is kept for others."""
    cluster.nodes(3, cpu=1)
    kept = {"key": "kept", "value": "for-others", "effect": "NoSchedule"}
    cluster.node("kept", cpu=8, taints=[kept])
    for number in (1, 2, 3):
        cluster.queue(f"q{number}")
        cluster.gang(f"j{number}", cpu=1, queue=f"q{number}")
    owner = start(cluster, daemon, RECLAIM, "j1", "j2", "j3")
    cluster.gang("large", cpu=4, queue="q3")
    cluster.submit()

    owner.stays(lambda: cluster.phase("large") == "Inqueue" and all(runs(cluster, f"j{n}") == 1 for n in (1, 2, 3)))

    assert evicted(cluster) == []


def test_reclaim_takes_one_pod_of_each_queue_that_has_two(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(4, cpu=1)
    for number in (1, 2, 3, 4):
        cluster.queue(f"q{number}")
    cluster.gang("j1", pods=2, cpu=1, min_member=1, queue="q1", priority_class="low")
    cluster.gang("j2", pods=2, cpu=1, min_member=1, queue="q2", priority_class="low")
    owner = start(cluster, daemon, ADMIT_ALL, "j1", "j2")
    for number in (3, 4):
        cluster.gang(f"j{number}", cpu=1, queue=f"q{number}", priority_class="high")
    cluster.submit()

    owner.stays(lambda: all(runs(cluster, f"j{number}") == 1 for number in (1, 2, 3, 4)))

    assert sorted(name.partition("-")[0] for name in owner.lost) == ["j1", "j2"]


def test_reclaim_gives_queues_what_they_deserve(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(4, cpu=2)
    for number, cpu in ((1, 1), (2, 1), (3, 2), (4, 4)):
        cluster.queue(f"q{number}", deserved={"cpu": cpu})
    cluster.gang("j1", pods=4, cpu=1, min_member=1, queue="q1", priority_class="low")
    cluster.gang("j2", pods=4, cpu=1, min_member=1, queue="q2", priority_class="low")
    owner = start(cluster, daemon, CAPACITY, "j1", "j2")
    for name, queue, cpu in (("a", "q3", 2), ("b", "q4", 2), ("c", "q4", 1), ("d", "q4", 1)):
        cluster.gang(name, cpu=cpu, queue=queue, priority_class="low")
    cluster.submit()

    owner.stays(lambda: all(runs(cluster, name) == 1 for name in "abcd"))

    assert runs(cluster, "j1") >= 1
    assert runs(cluster, "j2") >= 1


def test_reclaim_in_a_tree_of_queues(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(4, cpu=2)
    cluster.queue("q1", deserved={"cpu": 4})
    cluster.queue("q2", deserved={"cpu": 4})
    cluster.queue("q11", parent="q1", deserved={"cpu": 2})
    cluster.queue("q12", parent="q1", deserved={"cpu": 2})
    cluster.gang("rich", pods=8, cpu=1, min_member=1, queue="q2", priority_class="low")
    owner = start(cluster, daemon, TREE, "rich")
    for name, queue in (("a", "q11"), ("b", "q11"), ("c", "q12"), ("d", "q12")):
        cluster.gang(name, cpu=1, queue=queue, priority_class="low")
    cluster.submit()

    owner.stays(lambda: all(runs(cluster, name) == 1 for name in "abcd") and runs(cluster, "rich") == 4)

    assert len(owner.lost) == 4
