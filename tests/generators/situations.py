"""Drawing a situation: few nodes, queues and jobs, full of edges (design-notes §4).

Every choice has its plainest value first, so that hypothesis shrinks a failure to a small, plain case.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.cases.loader import Case

from . import cluster
from .cluster import GPU, ROLES
from .families import Family
from .podwishes import add_wishes

Object = dict[str, Any]
Item = TypeVar("Item")

SWITCHES = (
    "enableBestNode", "enableJobEnqueued", "enableJobOrder", "enableJobPipelined", "enableJobReady",
    "enableJobStarving", "enableNodeOrder", "enablePredicate", "enablePreemptable", "enablePreemptive",
    "enableQueueOrder", "enableReclaimable", "enableReservedNodes", "enableTargetJob", "enableTaskOrder",
    "enabledAllocatable", "enabledHyperNodeGradient", "enabledHyperNodeOrder", "enabledOverused",
    "enabledSubJobOrder", "enabledSubJobPipelined", "enabledSubJobReady", "enabledVictim",
)  # fmt: skip
# what may be switched off without making the session senseless
OPTIONAL = ("enableJobOrder", "enableTaskOrder", "enableQueueOrder", "enableJobPipelined", "enableJobEnqueued")
WEIGHTS = {
    "nodeorder": (
        "leastrequested", "mostrequested", "balancedresource", "nodeaffinity", "podaffinity", "tainttoleration",
        "podtopologyspread",
    ),
    "binpack": ("binpack",),
}  # fmt: skip
CLASSES = {"low": 100, "high": 1000}


@functools.cache
def _integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)


class Draw:
    """Choices of one situation."""

    def __init__(self, draw: Callable[[st.SearchStrategy[int]], int]) -> None:
        self._draw = draw

    def number(self, low: int, high: int) -> int:
        return self._draw(_integers(low, high))

    def pick(self, items: Sequence[Item]) -> Item:
        return items[self.number(0, len(items) - 1)]

    def once_in(self, times: int) -> bool:
        return self.number(0, times - 1) == times - 1


@st.composite
def situations(draw: Any, family: Family) -> Case:
    """A case of the family, without an expectation."""
    return Situation(Draw(draw), family).case()


class Situation:
    """Builds the objects of one case in order of arrival."""

    def __init__(self, draw: Draw, family: Family) -> None:
        self.draw, self.family = draw, family
        self.objects: list[Object] = []
        self._moment = 0

    def case(self) -> Case:
        draw, family = self.draw, self.family
        tiers = [{"plugins": [self.entry(name) for name in tier]} for tier in draw.pick(family.tiers)]
        actions = list(draw.pick(family.actions))
        if self.shows("priorities"):
            for name, value in CLASSES.items():
                self.add("scheduling.k8s.io/v1", "PriorityClass", name, value=value)
        queues = cluster.queues(self)
        nodes = [cluster.node(self, number) for number in range(draw.number(1, 3 if self.shows("victims") else 5))]
        if self.shows("hyper-nodes"):
            cluster.hyper_nodes(self, nodes)
        if self.shows("budgets"):
            cluster.budget(self)
        if self.shows("victims"):
            for number in range(draw.number(1, 2)):
                self.running_job(f"old-{number + 1}", queues if draw.once_in(4) else queues[:1], nodes)
            queues = queues[::-1]
        for number in range(draw.number(1, 4)):
            self.job(f"job-{number + 1}", queues, nodes)
        if self.shows("edges") and draw.once_in(4):
            self.foreign_pod(nodes)
        data = {
            "name": family.name,
            "scheduler": "volcano",
            "actions": actions,
            "objects": self.objects,
            "expect": {},
        }
        return Case(f"random/{family.name}", family.name, data, tiers)

    def shows(self, what: str) -> bool:
        return what in self.family.shows

    # ---- configuration

    def entry(self, name: str) -> Object:
        entry: Object = {"name": name, "enableHierarchy": False, "enabledClusterOrder": False}
        entry |= dict.fromkeys(SWITCHES, True) | dict.fromkeys(self.family.switches, True)
        if self.shows("switched-off") and self.draw.once_in(4):
            entry[self.draw.pick(OPTIONAL)] = False
        if self.shows("weights") and name in WEIGHTS:
            weights = {f"{scorer}.weight": self.draw.number(0, 3) for scorer in WEIGHTS[name] if self.draw.once_in(2)}
            entry["arguments"] = weights
        return entry

    # ---- objects

    def add(self, version: str, kind: str, name: str, namespace: str = "", **fields: Any) -> Object:
        """An object made a little later than the last one, or at the same time."""
        self._moment += self.draw.number(0, 1) if self.shows("edges") else 1
        minutes, seconds = divmod(self._moment, 60)
        metadata: Object = {
            "name": name,
            "creationTimestamp": f"2025-03-01T08:{minutes:02}:{seconds:02}Z",
            "uid": f"{kind.lower()}-{len(self.objects):04}",
        }
        if namespace:
            metadata["namespace"] = namespace
        obj: Object = {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}
        self.objects.append(obj)
        return obj

    # ---- jobs

    def job(self, name: str, queues: list[str], nodes: list[str]) -> None:
        draw = self.draw
        placed = self.shows("placed") and draw.once_in(6 if self.shows("victims") else 3)
        count = draw.number(1, 5)
        roles = ROLES[: draw.number(1, 2)] if self.shows("roles") else ROLES[:1]
        of_pod = [roles[min(i * len(roles) // count, len(roles) - 1)] for i in range(count)]
        most = min(count, 2) if self.shows("victims") else count
        spec: Object = {"minMember": draw.number(0, most), "queue": draw.pick(queues)}
        if self.shows("edges") and draw.once_in(6):
            spec["minMember"] = count + 1
        if len(roles) > 1 and draw.once_in(2):
            spec["minTaskMember"] = {role: draw.number(0, of_pod.count(role)) for role in roles}
        if self.shows("victims") and not draw.once_in(3):
            spec["priorityClassName"] = "high"
        elif self.shows("priorities") and draw.once_in(2):
            spec["priorityClassName"] = draw.pick(tuple(CLASSES))
        if self.shows("min-resources") and draw.once_in(2):
            spec["minResources"] = self.request()
        if self.shows("subgroups") and draw.once_in(2):
            spec["subGroupPolicy"] = [self.policy()]
        if self.shows("hyper-nodes") and draw.once_in(2):
            spec["networkTopology"] = self.topology()
        phase = "Running" if placed else draw.pick(("Inqueue", "Pending"))
        if not (self.shows("edges") and draw.once_in(10)):
            group = self.add(
                "scheduling.volcano.sh/v1beta1", "PodGroup", name, "team", spec=spec, status={"phase": phase}
            )
            if self.shows("victims") and draw.once_in(4):
                group["metadata"]["annotations"] = {"volcano.sh/preemptable": draw.pick(("true", "false"))}
        requests = {role: self.request() for role in roles}
        for index, role in enumerate(of_pod):
            pod = self.pod(f"{name}-{role}-{index}", name, role, requests[role])
            if placed and not draw.once_in(3):
                self.place(pod, draw.pick(nodes))

    def running_job(self, name: str, queues: list[str], nodes: list[str]) -> None:
        """A job of little priority that fills nodes, so that others have something to evict."""
        draw = self.draw
        spec: Object = {"minMember": draw.number(0, 2), "queue": draw.pick(queues), "priorityClassName": "low"}
        group = self.add("scheduling.volcano.sh/v1beta1", "PodGroup", name, "team", spec=spec)
        group["status"] = {"phase": "Running"}
        for number, node in enumerate(nodes):
            for index in range(draw.number(1, 2)):
                pod = self.pod(f"{name}-worker-{number}{index}", name, "worker", {"cpu": draw.pick(("1", "2"))})
                pod["spec"]["nodeName"] = node
                pod["spec"].pop("schedulingGates", None)
                pod["status"]["phase"] = "Pending" if draw.once_in(6) else "Running"

    def policy(self) -> Object:
        policy: Object = {"name": "part", "matchLabelKeys": ["part"], "subGroupSize": self.draw.number(1, 3)}
        if self.draw.once_in(2):
            policy["minSubGroups"] = self.draw.number(1, 2)
        if self.shows("hyper-nodes") and self.draw.once_in(2):
            policy["networkTopology"] = self.topology()
        return policy

    def topology(self) -> Object:
        return {"mode": self.draw.pick(("hard", "soft")), "highestTierAllowed": self.draw.number(1, 2)}

    def request(self) -> Object:
        draw = self.draw
        if self.shows("best-effort") and draw.once_in(5):
            return {}
        sizes = ("1", "500m") if self.shows("victims") else ("1", "2", "500m", "3")
        request: Object = {"cpu": draw.pick(sizes)}
        if draw.once_in(2):
            request["memory"] = draw.pick(("1Gi", "2Gi", "300Mi"))
        if self.shows("scalars") and draw.once_in(3):
            request[GPU] = str(draw.number(0, 2))
        if self.shows("edges") and "memory" in request and draw.once_in(4):
            del request["cpu"]
        return request

    def pod(self, name: str, job: str, role: str, request: Object) -> Object:
        draw = self.draw
        spec: Object = {
            "containers": [{"name": "main", "resources": {"requests": request}}],
            "schedulerName": "volcano",
        }
        pod = self.add("v1", "Pod", name, "team", spec=spec, status={"phase": "Pending"})
        annotations = {"scheduling.k8s.io/group-name": job, "volcano.sh/task-spec": role}
        pod["metadata"] |= {"annotations": annotations, "labels": {"app": role}}
        if self.shows("subgroups") and not draw.once_in(6):
            pod["metadata"]["labels"]["part"] = str(draw.number(0, 2))
        if self.shows("priorities") and draw.once_in(3):
            spec["priority"] = draw.number(1, 3) * 100
        if self.shows("victims") and draw.once_in(4):
            annotations["volcano.sh/preemptable"] = draw.pick(("true", "false"))
        if self.shows("victims") and draw.once_in(8):
            spec["preemptionPolicy"] = "Never"
        if self.shows("gates") and draw.once_in(6):
            gate = draw.pick(("scheduling.volcano.sh/queue-allocation-gate", "example.com/wait"))
            spec["schedulingGates"] = [{"name": gate}]
        add_wishes(pod, draw, self.family.shows)
        return pod

    def place(self, pod: Object, node: str) -> None:
        """The pod is on a node already, whether it fits or not."""
        pod["spec"]["nodeName"] = node
        pod["spec"].pop("schedulingGates", None)
        pod["status"]["phase"] = self.draw.pick(("Running", "Pending", "Succeeded", "Failed"))
        if self.shows("terminating") and self.draw.once_in(4):
            pod["metadata"] |= {"deletionTimestamp": "2025-03-01T14:00:00Z", "deletionGracePeriodSeconds": 30}

    def foreign_pod(self, nodes: list[str]) -> None:
        """A pod of another scheduler takes room."""
        pod = self.pod("foreign", "", "", {"cpu": "1"})
        pod["metadata"].pop("annotations")
        pod["spec"]["schedulerName"] = "default-scheduler"
        self.place(pod, self.draw.pick(nodes))
