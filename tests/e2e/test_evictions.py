"""Preempt and reclaim, seen from the API server: the scenarios of spec 08 §10.2, with pods that are made anew.

The daemon runs as a process; victims are deleted gracefully and their owner makes a pod of the same name again.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon
from tests.e2e.daemon import CONFIGURATION

pytestmark = pytest.mark.controlplane

PREEMPT = CONFIGURATION.replace('"enqueue, allocate, backfill"', '"allocate, preempt, backfill"')
RECLAIM = CONFIGURATION.replace('"enqueue, allocate, backfill"', '"enqueue, allocate, reclaim, backfill"')
ADMIT_ALL = RECLAIM.replace("  - name: overcommit\n", "")
CAPACITY = ADMIT_ALL.replace("name: proportion", "name: capacity")
TREE = ADMIT_ALL.replace("name: proportion", "name: capacity\n    enableHierarchy: true")
TOPOLOGY_AWARE = PREEMPT + ("configurations:\n- name: preempt\n  arguments:\n    enableTopologyAwarePreemption: true\n")
STEADY_S = 2.0  # twenty sessions: what has not happened then does not happen


class Owner:
    """Makes the pods of a World anew, under their names, when they have been deleted."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._home = cluster.default_namespace
        self._seen: set[str] = set()
        self.lost: list[str] = []

    def look(self) -> None:
        """Make anew whatever is missing."""
        for pod in list(self._cluster.of("Pod")):
            name = pod["metadata"]["name"]
            if (self._home, name) in self._cluster.kubelet.pods:
                self._seen.add(name)
            elif name in self._seen:
                self._seen.discard(name)
                self.lost.append(name)
                self._cluster.api.create([copy.deepcopy(pod)])

    def wait(self, until: Callable[[], object]) -> None:
        """Wait for something while pods are made anew."""

        def now() -> object:
            self.look()
            return until()

        self._cluster.wait(now)

    def stays(self, true: Callable[[], object]) -> None:
        """Something is, and remains."""
        self.wait(true)
        end = time.monotonic() + STEADY_S
        while time.monotonic() < end:
            self.look()
            assert true(), self._cluster.report()
            time.sleep(0.05)


def runs(cluster: Cluster, gang: str) -> int:
    """How many pods of a gang run and are not being deleted."""
    pods = cluster.pods(gang)
    return sum(p["status"].get("phase") == "Running" and "deletionTimestamp" not in p["metadata"] for p in pods)


def evicted(cluster: Cluster) -> list[str]:
    """Names of the pods that events call evicted."""
    found = cluster.api.list("Event", cluster.default_namespace)
    about = [e["involvedObject"] for e in found if e["reason"] == "Evict"]
    return sorted(each["name"] for each in about if each["kind"] == "Pod")


def classes(cluster: Cluster) -> None:
    for name, value in (("low", 10), ("mid", 50), ("high", 100)):
        cluster.priority_class(name, value)


def start(cluster: Cluster, daemon: StartDaemon, configuration: str, *gangs: str) -> Owner:
    """Submit what was said so far, start the daemon, and wait until all pods of the gangs run."""
    cluster.submit()
    daemon(configuration=configuration)
    for gang in gangs:
        cluster.wait(lambda gang=gang: runs(cluster, gang) == len(cluster.pods(gang)) > 0)
    return Owner(cluster)


# ---------------------------------------------------------------- preempt


def test_preempt_takes_what_a_gang_needs_in_its_queue(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(2, cpu=2)
    cluster.gang("low", pods=4, cpu=1, min_member=1, priority_class="low", grace_s=1)
    owner = start(cluster, daemon, PREEMPT, "low")
    cluster.gang("high", pods=4, cpu=1, min_member=2, priority_class="high", grace_s=1)
    cluster.submit()

    owner.stays(lambda: runs(cluster, "high") == 2 and runs(cluster, "low") == 2)

    assert len(owner.lost) == 2


def test_preempt_leaves_other_queues_alone(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(2, cpu=2)
    cluster.queue("q1")
    cluster.queue("q2")
    cluster.gang("mine", pods=2, cpu=1, min_member=1, queue="q1", priority_class="low", grace_s=1)
    cluster.gang("other", pods=2, cpu=1, min_member=1, queue="q2", priority_class="low", grace_s=1)
    owner = start(cluster, daemon, PREEMPT, "mine", "other")
    cluster.gang("high", pods=2, cpu=1, queue="q1", priority_class="high", grace_s=1)
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
            affinity=affinity, grace_s=1, min_resources=None,
        )  # fmt: skip

    gang("blocker", 3, 1, "mid", {"podAntiAffinity": term("blocker")})
    owner = start(cluster, daemon, TOPOLOGY_AWARE, "blocker")
    gang("bystander", 3, 1, "low", {"podAntiAffinity": term("bystander")})
    cluster.submit()
    owner.wait(lambda: runs(cluster, "bystander") == 3)
    gang("high", 2, 2, "high", {"podAntiAffinity": term("blocker")}, cpu=3)
    cluster.submit()

    owner.stays(
        lambda: runs(cluster, "high") == 2 and runs(cluster, "blocker") == 1 and runs(cluster, "bystander") == 3
    )


def test_victims_that_take_their_time_are_not_joined_by_others(cluster: Cluster, daemon: StartDaemon) -> None:
    """Thirty seconds of grace are three hundred sessions; one pod was needed, one goes."""
    classes(cluster)
    cluster.nodes(2, cpu=2)
    cluster.gang("low", pods=4, cpu=1, min_member=1, priority_class="low", grace_s=30)
    owner = start(cluster, daemon, PREEMPT, "low")
    cluster.kubelet.run = False  # nobody lets go of the victim
    cluster.gang("high", pods=1, cpu=1, priority_class="high")
    cluster.submit()
    owner.wait(lambda: evicted(cluster))

    time.sleep(30)

    (victim,) = evicted(cluster)
    high = cluster.pods("high")[0]
    assert high["status"]["nominatedNodeName"]
    cluster.api.delete("Pod", victim, cluster.default_namespace, gracePeriodSeconds="0")
    owner.wait(lambda: cluster.bound("high") == 1)
    assert evicted(cluster) == [victim]


# ---------------------------------------------------------------- reclaim


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


def test_reclaim_takes_one_pod_of_each_queue_that_has_two(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(4, cpu=1)
    for number in (1, 2, 3, 4):
        cluster.queue(f"q{number}")
    cluster.gang("j1", pods=2, cpu=1, min_member=1, queue="q1", priority_class="low", grace_s=1)
    cluster.gang("j2", pods=2, cpu=1, min_member=1, queue="q2", priority_class="low", grace_s=1)
    owner = start(cluster, daemon, ADMIT_ALL, "j1", "j2")
    for number in (3, 4):
        cluster.gang(f"j{number}", cpu=1, queue=f"q{number}", priority_class="high", grace_s=1)
    cluster.submit()

    owner.stays(lambda: all(runs(cluster, f"j{number}") == 1 for number in (1, 2, 3, 4)))

    assert sorted(name.partition("-")[0] for name in owner.lost) == ["j1", "j2"]


def test_reclaim_gives_queues_what_they_deserve(cluster: Cluster, daemon: StartDaemon) -> None:
    classes(cluster)
    cluster.nodes(4, cpu=2)
    for number, cpu in ((1, 1), (2, 1), (3, 2), (4, 4)):
        cluster.queue(f"q{number}", deserved={"cpu": cpu})
    cluster.gang("j1", pods=4, cpu=1, min_member=1, queue="q1", priority_class="low", grace_s=1)
    cluster.gang("j2", pods=4, cpu=1, min_member=1, queue="q2", priority_class="low", grace_s=1)
    owner = start(cluster, daemon, CAPACITY, "j1", "j2")
    for name, queue, cpu in (("a", "q3", 2), ("b", "q4", 2), ("c", "q4", 1), ("d", "q4", 1)):
        cluster.gang(name, cpu=cpu, queue=queue, priority_class="low", grace_s=1)
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
    cluster.gang("rich", pods=8, cpu=1, min_member=1, queue="q2", priority_class="low", grace_s=1)
    owner = start(cluster, daemon, TREE, "rich")
    for name, queue in (("a", "q11"), ("b", "q11"), ("c", "q12"), ("d", "q12")):
        cluster.gang(name, cpu=1, queue=queue, priority_class="low", grace_s=1)
    cluster.submit()

    owner.stays(lambda: all(runs(cluster, name) == 1 for name in "abcd") and runs(cluster, "rich") == 4)

    assert len(owner.lost) == 4
