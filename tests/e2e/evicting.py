"""What the tests of evictions share: configurations, the owner of pods that come back, and looks at the cluster.

Victims are deleted gracefully, and their owner makes pods of the same names again.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable

from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon
from tests.e2e.daemon import CONFIGURATION

PREEMPT = CONFIGURATION.replace('"enqueue, allocate, backfill"', '"allocate, preempt, backfill"')
RECLAIM = CONFIGURATION.replace('"enqueue, allocate, backfill"', '"enqueue, allocate, reclaim, backfill"')
ADMIT_ALL = RECLAIM.replace("  - name: overcommit\n", "")
CAPACITY = ADMIT_ALL.replace("name: proportion", "name: capacity")
TREE = ADMIT_ALL.replace("name: proportion", "name: capacity\n    enableHierarchy: true")
TOPOLOGY_AWARE = PREEMPT + ("configurations:\n- name: preempt\n  arguments:\n    enableTopologyAwarePreemption: true\n")
STEADY_S = 1.0  # ten sessions: what has not happened then does not happen


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
