"""Several sessions one after another, with what a cluster does in between.

After each session the product's writes are applied to the objects as the API server and the kubelet would, then pods
start, end and go, nodes are cordoned, jobs arrive. The oracle starts each time from the objects alone; the product
goes on with the picture it keeps. Whatever it carries over wrongly shows as a decision that is not permitted.
"""

from __future__ import annotations

import copy
from typing import Any

from tests.cases.loader import Case
from tests.cases.product import InMemory, key_of
from vcsched.kube.link import Bind, Evict, Outbound, PodGroupStatus, PodStatus, Wrote

from .judge import check
from .situations import Situation

Object = dict[str, Any]


class Series:
    """One story. `story` tells it, for the reader of a failure."""

    def __init__(self, situation: Situation, name: str) -> None:
        self.situation, self.name = situation, name
        self.start = situation.case()
        self.world = InMemory(self.start, profile="reference")
        self.world.upsert(self.start.objects)
        self.story: list[str] = []
        self._known = len(situation.objects)
        self._jobs = sum(obj["kind"] == "PodGroup" for obj in situation.objects)

    def session(self) -> None:
        """One session, judged from the objects as they are before it."""
        objects = copy.deepcopy(list(self.world.objects.values()))
        case = Case(self.start.family, self.start.name, self.start.data | {"objects": objects}, self.start.tiers)
        before = len(self.world.writes)
        outcome = self.world.session()
        try:
            check(case, outcome, self.name)
        except AssertionError as error:
            raise AssertionError(f"{error}\nbefore this session:\n" + "\n".join(self.story)) from None
        self.story.append(f"  session: bound {outcome.binds}, evicted {outcome.evicted}")
        for message in self.world.writes[before:]:
            self._apply(message)

    # ---- what the API server and the kubelet make of a write

    def _apply(self, message: Outbound) -> None:
        number = getattr(message, "no", 0)
        if number:
            self.world.cache.link.put(Wrote(number, True, 200))
        if isinstance(message, Bind):
            pod = self._copy("Pod", message.namespace, message.name)
            pod["spec"]["nodeName"] = message.node
            pod["status"]["phase"] = self.situation.draw.pick(("Running", "Pending"))
            self._change(pod)
        elif isinstance(message, Evict):
            pod = self._copy("Pod", message.namespace, message.name)
            conditions = [{"type": c.type, "status": c.status, "reason": c.reason} for c in message.conditions]
            pod["status"]["conditions"] = conditions
            pod["metadata"]["deletionTimestamp"] = "2025-03-01T14:00:00Z"
            self._change(pod)
        elif isinstance(message, PodGroupStatus):
            group = self._copy("PodGroup", message.namespace, message.name)
            group["status"] |= message.status
            self._change(group)
        elif isinstance(message, PodStatus) and message.nominated is not None:
            pod = self._copy("Pod", message.namespace, message.name)
            pod["status"]["nominatedNodeName"] = message.nominated
            self._change(pod)

    def _copy(self, kind: str, namespace: str, name: str) -> Object:
        return copy.deepcopy(self.world.objects[f"{kind} {namespace}/{name}"])

    def _change(self, obj: Object) -> None:
        self.world.upsert([obj])

    # ---- what else happens

    def meanwhile(self) -> None:
        """Every pod may go on one step; now and then a node or a job changes."""
        draw = self.situation.draw
        for pod in [obj for obj in self.world.objects.values() if obj["kind"] == "Pod"]:
            if pod["spec"].get("nodeName") and draw.once_in(3):
                self._go_on(copy.deepcopy(pod))
        if draw.once_in(4):
            node = copy.deepcopy(draw.pick([o for o in self.world.objects.values() if o["kind"] == "Node"]))
            node["spec"]["unschedulable"] = not node["spec"].get("unschedulable", False)
            self._tell(node, f"cordoned {node['spec']['unschedulable']}")
            self._change(node)
        if draw.once_in(3):
            self._new_job()

    def _go_on(self, pod: Object) -> None:
        """A leaving or ended pod goes; a bound one runs; a running one ends."""
        phase = pod["status"]["phase"]
        if pod["metadata"].get("deletionTimestamp") or phase in ("Succeeded", "Failed"):
            self._tell(pod, "is gone")
            self.world.delete([pod])
            return
        pod["status"]["phase"] = "Running" if phase == "Pending" else self.situation.draw.pick(("Succeeded", "Failed"))
        self._tell(pod, pod["status"]["phase"])
        self._change(pod)

    def _new_job(self) -> None:
        objects = self.world.objects.values()
        queues = [obj["metadata"]["name"] for obj in objects if obj["kind"] == "Queue"]
        nodes = [obj["metadata"]["name"] for obj in objects if obj["kind"] == "Node"]
        self._jobs += 1
        self.situation.job(f"job-{self._jobs + 10}", queues, nodes)
        new = self.situation.objects[self._known :]
        self._known = len(self.situation.objects)
        self.story += [f"  new {key_of(obj)}" for obj in new]
        self.world.upsert(new)

    def _tell(self, obj: Object, what: str) -> None:
        self.story.append(f"  {key_of(obj)} {what}")
