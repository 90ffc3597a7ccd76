"""A World on a real API server: say what there is, submit it, then ask what the scheduler made of it.

cluster.nodes(2, cpu=2)
cluster.gang("fits", pods=3, cpu=1)
cluster.submit()
cluster.wait(lambda: cluster.bound("fits") == 3)
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.e2e.api import Api, ApiError
from tests.e2e.kubelet import Kubelet
from vcsched.kube.keys import JOB_NAME
from vcsched.simulator.fragments import number
from vcsched.simulator.world import World

Obj = dict[str, Any]

PATIENCE_S = 120.0
LEASE, SYSTEM = "volcano", "volcano-system"
KEPT_QUEUES = ("root", "default")


class Cluster(World):
    """One test's objects, in a namespace of its own; nodes, queues and classes are the cluster's."""

    def __init__(self, api: Api, kubelet: Kubelet, namespace: str) -> None:
        super().__init__(namespace=namespace)
        self.api = api
        self.kubelet = kubelet
        self._submitted = 0

    def submit(self) -> list[Obj]:
        """Create what was built since the last time; the server's version of each object."""
        new = self.objects(self._submitted)
        self._submitted = len(self)
        return self.api.create(new)

    def wait(self, until: Callable[[], object], timeout_s: float = PATIENCE_S) -> None:
        """Wait until it is true; fails with the state of all gangs when that takes too long."""
        give_up = time.monotonic() + timeout_s
        while not until():
            if time.monotonic() > give_up:
                raise AssertionError(f"not within {timeout_s:.0f} s\n{self.report()}")
            time.sleep(0.05)

    # ---------------------------------------------------------------- what became of it

    def pods(self, gang: str = "") -> list[Obj]:
        """The pods of this test (of one gang) as the API server last showed them."""
        mine = [pod for (home, _), pod in list(self.kubelet.pods.items()) if home == self.default_namespace]
        return [pod for pod in mine if not gang or pod["metadata"].get("labels", {}).get(JOB_NAME) == gang]

    def bound(self, gang: str = "") -> int:
        """How many pods (of one gang) have a node."""
        return sum("nodeName" in pod["spec"] for pod in self.pods(gang))

    def bound_of_gangs(self) -> dict[str, int]:
        """The pods bound of each gang that has any."""
        return dict(Counter(pod["metadata"]["labels"][JOB_NAME] for pod in self.pods() if "nodeName" in pod["spec"]))

    def group(self, gang: str) -> Obj:
        """The PodGroup of a gang."""
        return self.api.get("PodGroup", gang, self.default_namespace)

    def phase(self, gang: str) -> str:
        """The phase of a gang's PodGroup; "" before the scheduler has written one."""
        return str(self.group(gang).get("status", {}).get("phase", ""))

    def why(self, gang: str) -> str:
        """Why a gang waits: the message of its PodGroup's condition Unschedulable, "" without one."""
        for condition in self.group(gang).get("status", {}).get("conditions", []):
            if condition["type"] == "Unschedulable" and condition["status"] == "True":
                return str(condition["message"])
        return ""

    def allocated(self, queue: str) -> Obj:
        """What a Queue's status says its pods use."""
        return dict(self.api.get("Queue", queue).get("status", {}).get("allocated") or {})

    def leader(self) -> str:
        """Who holds the scheduler's lease, "" while nobody does."""
        try:
            lease = self.api.get("Lease", LEASE, SYSTEM)
        except ApiError:
            return ""
        return str(lease["spec"].get("holderIdentity") or "")

    def condition(self, pod: str, kind: str = "PodScheduled") -> Obj:
        """A condition of a pod, {} if it has none of this type or the watch has not shown the pod yet."""
        status = self.kubelet.pods.get((self.default_namespace, pod), {}).get("status", {})
        return next((each for each in status.get("conditions", []) if each["type"] == kind), {})

    def events(self, about: str) -> list[Obj]:
        """The Events about an object of this test."""
        selector = f"involvedObject.name={about}"
        return self.api.list("Event", self.default_namespace, fieldSelector=selector)

    def overfilled(self) -> list[str]:
        """Nodes on which the bound pods ask for more of anything than there is."""
        used: dict[str, Counter[str]] = {}
        for pod in list(self.kubelet.pods.values()):
            if "nodeName" in pod["spec"] and pod["status"]["phase"] not in ("Succeeded", "Failed"):
                on_node = used.setdefault(pod["spec"]["nodeName"], Counter())
                on_node["pods"] += 1
                for container in pod["spec"]["containers"]:
                    for resource, amount in container.get("resources", {}).get("requests", {}).items():
                        on_node[resource] += number(amount)  # type: ignore[assignment]
        room = {node["metadata"]["name"]: node["status"]["allocatable"] for node in self.api.list("Node")}
        return [
            f"{node}: {resource} {amount} of {room[node].get(resource, 0)}"
            for node, amounts in used.items()
            for resource, amount in amounts.items()
            if amount > number(room[node].get(resource, 0))
        ]

    def report(self) -> str:
        """The gangs of this test: phase, bound and all pods, reason."""
        lines = []
        for group in self.api.list("PodGroup", self.default_namespace):
            name = group["metadata"]["name"]
            lines.append(f"{name}: {self.phase(name)} {self.bound(name)}/{len(self.pods(name))} {self.why(name)}")
        return "\n".join(lines)

    # ---------------------------------------------------------------- the end

    def clear(self) -> None:
        """Take everything away again, so that the next test finds an empty cluster."""
        at_once = {"gracePeriodSeconds": "0"}
        self.api.delete_all("Pod", self.default_namespace, **at_once)
        self.api.delete_all("PodGroup", self.default_namespace)
        self.api.delete_all("Node")
        for queue in self.api.list("Queue"):
            if queue["metadata"]["name"] not in KEPT_QUEUES:
                self.api.delete("Queue", queue["metadata"]["name"])
        for made in self.of("PriorityClass"):
            self.api.delete("PriorityClass", made["metadata"]["name"])
        # A daemon that was killed still holds its lease, and the next one would wait for it to run out.
        self.api.delete("Lease", LEASE, SYSTEM)
