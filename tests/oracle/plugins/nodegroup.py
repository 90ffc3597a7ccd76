"""nodegroup: queues are bound to groups of nodes (spec 06 §5)."""

from __future__ import annotations

import json
from dataclasses import dataclass

from tests.oracle.node import Node
from tests.oracle.points import Reasons
from tests.oracle.queue import Queue
from tests.oracle.resources import EPSILON, Resources, from_list, plus
from tests.oracle.search import ERROR, UNRESOLVABLE
from tests.oracle.selectors import annotation
from tests.oracle.task import ALLOCATED, Task
from tests.oracle.upstream import PREFERRED, REQUIRED

from .base import Plugin

GROUP = "volcano.sh/nodegroup-name"
LIMITS = "volcano.sh/nodegroup-resource-limits"


@dataclass
class GroupAffinity:
    """A queue's groups; `unset` if all four lists are empty."""

    required: list[str]
    preferred: list[str]
    anti_required: list[str]
    anti_preferred: list[str]

    @property
    def unset(self) -> bool:
        return not (self.required or self.preferred or self.anti_required or self.anti_preferred)

    def allows(self, group: str) -> bool:
        """A later list overrules an earlier one; the preferred anti-affinity allows (spec 06 §5.2)."""
        if group in self.anti_preferred:
            return True
        if group in self.anti_required:
            return False
        return group in self.required or group in self.preferred


class NodeGroup(Plugin):
    def open(self) -> None:
        session = self.session
        self.hierarchical = bool(self.entry.get("enableHierarchy"))
        self.strict = self.bool_argument("strict", True)
        self.ordered = self.bool_argument("enablePreferredOrder", False)
        self.affinity = {queue.name: self._affinity(queue) for queue in session.queues.values()}
        self.limits: dict[str, dict[str, Resources] | None] = {}  # None: the annotation is broken
        self.used: dict[tuple[str, str], Resources] = {}  # (queue, group) -> allocated
        for queue in session.queues.values():
            text = annotation(queue.obj, LIMITS)
            if text:
                self.limits[queue.name] = read_limits(text)
        for job in session.jobs.values():
            for task in job.tasks:
                if task.status in ALLOCATED:
                    self._count(task, 1)

    def _affinity(self, queue: Queue | None) -> GroupAffinity | None:
        """The queue's affinity, in a hierarchy the nearest ancestor's that has one (spec 06 §5.4)."""
        seen = set()
        while queue is not None:
            spec = (queue.obj.get("spec") or {}).get("affinity")
            if spec is not None:
                own, anti = spec.get("nodeGroupAffinity") or {}, spec.get("nodeGroupAntiAffinity") or {}
                lists = [part.get(strength) or [] for part in (own, anti) for strength in (REQUIRED, PREFERRED)]
                return GroupAffinity(*lists)
            if not self.hierarchical or queue.name == "root" or queue.name in seen:
                return None
            seen.add(queue.name)
            queue = self.session.queues.get(queue.parent or "root")
        return None

    def _count(self, task: Task, sign: int) -> None:
        job, node = self.session.jobs.get(task.job_key), self.session.nodes.get(task.node)
        if job and node and GROUP in node.labels:
            amount = self.used.setdefault((job.queue, node.labels[GROUP]), Resources(0, 0, {}))
            amount.add(task.request.times(sign))

    def on_allocate(self, task: Task) -> None:
        self._count(task, 1)

    def on_deallocate(self, task: Task) -> None:
        self._count(task, -1)

    def predicate(self, task: Task, node: Node) -> Reasons:
        job = self.session.jobs.get(task.job_key)
        if job is None:
            return [(ERROR, f"job {task.job_key} not found in session")]
        text = self._objection(job.queue, task, node)
        return [(UNRESOLVABLE, text)] if text else []

    def _objection(self, queue: str, task: Task, node: Node) -> str:
        limits = self.limits.get(queue, {})
        if limits is None:
            return "node group resource limit annotation invalid"
        affinity, group = self.affinity.get(queue), node.labels.get(GROUP)
        unset = affinity is None or affinity.unset
        if group is None:
            return "" if unset and not self.strict else "node group label not found"
        if affinity is None or unset:
            return "node group affinity not specified"
        if not affinity.allows(group):
            return "node does not satisfy the node group affinity"
        if group in limits and self._exceeds(limits[group], queue, group, task):
            return "node group resource limit exceeded"
        return ""

    def _exceeds(self, limit: Resources, queue: str, group: str, task: Task) -> bool:
        total = plus(self.used.get((queue, group), Resources()), task.request)
        for name in limit.dimensions():
            unlimited = name in ("cpu", "memory") and limit.get(name) == 0
            if not unlimited and total.get(name) - limit.get(name) >= EPSILON:
                return True
        return False

    def node_order(self, task: Task, node: Node) -> float:
        job = self.session.jobs.get(task.job_key)
        affinity, group = self.affinity.get(job.queue) if job else None, node.labels.get(GROUP)
        if affinity is None or group is None:
            return 0.0
        if group in affinity.anti_preferred:
            return -1.0
        score = 100.0 if group in affinity.required else 0.0
        if group in affinity.preferred:
            different = len(set(affinity.preferred))
            last = len(affinity.preferred) - 1 - affinity.preferred[::-1].index(group)
            score += 50.0 * (different - last) / different if self.ordered else 50.0
        return score


def read_limits(text: str) -> dict[str, Resources] | None:
    try:
        return {group: from_list(amounts) for group, amounts in json.loads(text).items()}
    except (ValueError, AttributeError, TypeError):
        return None
