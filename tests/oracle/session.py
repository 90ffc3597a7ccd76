"""One session: the snapshot of a case's objects and the plugins of its tiers (spec 03 §2)."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

from . import hypernodes
from .choices import Choices
from .job import Job
from .node import Node
from .plugins import PLUGINS
from .plugins.base import Plugin
from .points import ExtensionPoints
from .queue import Queue
from .resources import total_of
from .selectors import Object
from .task import Task
from .upstream import anti_affinity_terms, has_pod_affinity

# kinds that the session reads in its constructor or that the plugins need not see
READ_KINDS = {
    "PriorityClass",
    "Queue",
    "Node",
    "PodGroup",
    "Pod",
    "ResourceQuota",
    "PodDisruptionBudget",
    "ResourceClaim",
    "HyperNode",
}


class Session(ExtensionPoints):
    """Everything an action or a plugin may read, and the decisions made so far."""

    def __init__(self, case: Mapping[str, Any], tiers: list[Object], choices: Choices, mended: bool = False) -> None:
        """`mended`: without the defects of the reference that we do not repeat (spec 06 §11 nos. 1-3)."""
        super().__init__()
        self.case, self.choices, self.mended = case, choices, mended
        self.now = parse_time(case["now"]) if case.get("now") else datetime.datetime.now(datetime.UTC)
        options = case.get("options") or {}
        self.shard_mode: str = options.get("scheduler-sharding-mode", "none")
        self.nodes_in_shard = set(case.get("nodesInShard") or [])
        self.actions: list[str] = case["actions"]
        self.configurations: list[Object] = case.get("configurations") or []
        self.binds: dict[str, str] = {}
        self.evictions: list[str] = []
        self.warnings: list[str] = []
        self.objects: list[Object] = case["objects"]
        self._read_objects()
        self._shuffle_maps()
        self.total = total_of(node.allocatable for node in self.nodes.values())
        # the pods that the upstream filters see on a node, kept by the predicates plugin (spec 06 §2.5)
        self.view = {name: node.tasks() for name, node in self.nodes.items()}
        self._nodes_at_open = (self._nodes_with(has_pod_affinity), self._nodes_with(anti_affinity_terms))
        self.topology = hypernodes.HyperNodes(self)
        self.tiers = []
        for tier in tiers:
            self.tiers.append([])
            for entry in tier["plugins"]:
                if entry["name"] in PLUGINS:
                    plugin: Plugin = PLUGINS[entry["name"]](self, entry)
                    self.tiers[-1].append((entry, plugin))
                else:
                    self.warnings.append(f"plugin not supported: {entry['name']}")
        for plugin in self.plugins():
            plugin.open()

    def _nodes_with(self, property_of: Callable[[Task], Any]) -> list[str]:
        return [name for name in self.order if any(map(property_of, self.view[name]))]

    @property
    def nodes_with_affinity(self) -> list[str]:
        """Nodes with a pod that has pod affinity, at the session's open: not kept up to date (06 §11 no. 2)."""
        return self._nodes_with(has_pod_affinity) if self.mended else self._nodes_at_open[0]

    @property
    def nodes_with_anti_affinity(self) -> list[str]:
        """The same for required anti-affinity."""
        return self._nodes_with(anti_affinity_terms) if self.mended else self._nodes_at_open[1]

    def plugins(self) -> list[Plugin]:
        return [plugin for tier in self.tiers for _, plugin in tier]

    def of_kind(self, kind: str) -> list[Object]:
        return [obj for obj in self.objects if obj["kind"] == kind]

    def argument(self, action: str, key: str, default: Any) -> Any:
        """An argument of an action from `configurations` (spec 04 §1)."""
        for entry in self.configurations:
            if entry.get("name") == action:
                return (entry.get("arguments") or {}).get(key, default)
        return default

    def _read_objects(self) -> None:
        for kind in sorted({obj["kind"] for obj in self.objects} - READ_KINDS):
            self.warnings.append(f"object kind not supported: {kind}")
        classes = self.of_kind("PriorityClass")
        class_values = {obj["metadata"]["name"]: obj.get("value", 0) for obj in classes}
        default_priority = ([0] + [obj.get("value", 0) for obj in classes if obj.get("globalDefault")])[-1]
        self.queues = {obj["metadata"]["name"]: Queue(obj) for obj in self.of_kind("Queue")}
        self.nodes = {
            obj["metadata"]["name"]: Node(obj, arrival)
            for arrival, obj in enumerate(self.objects)
            if obj["kind"] == "Node"
        }
        self.order = list(self.nodes)
        self.tasks = [Task(obj, arrival) for arrival, obj in enumerate(self.objects) if obj["kind"] == "Pod"]
        self.quotas: dict[str, list[Object]] = {}
        for obj in self.of_kind("ResourceQuota"):
            self.quotas.setdefault(obj["metadata"].get("namespace", ""), []).append(obj.get("status") or {})
        self.disruption_budgets = self.of_kind("PodDisruptionBudget")
        self._read_claims()
        self.jobs = {}
        for obj in self.of_kind("PodGroup"):
            job = Job(obj, class_values, default_priority)
            if job.queue in self.queues:
                self.jobs[job.key] = job
        for task in self.tasks:
            if task.node in self.nodes and task.status not in ("Succeeded", "Failed"):
                self.nodes[task.node].add(task)
            if task.job_key in self.jobs:
                self.jobs[task.job_key].add(task)

    def _read_claims(self) -> None:
        """Device counts per claim and device class (spec 05 §10.2; consumable capacity is left out)."""
        claims = {
            f"{obj['metadata'].get('namespace', '')}/{obj['metadata']['name']}": obj
            for obj in self.of_kind("ResourceClaim")
        }
        for task in self.tasks:
            for reference in task.pod_spec.get("resourceClaims") or []:
                key = f"{task.namespace}/{reference.get('resourceClaimName') or ''}"
                if key not in claims:
                    continue
                for request in claims[key]["spec"].get("devices", {}).get("requests") or []:
                    exactly = request.get("exactly") or {}
                    name = exactly.get("deviceClassName")
                    if name and exactly.get("allocationMode") != "All":
                        counts = task.claims.setdefault(key, {})
                        counts[name] = counts.get(name, 0) + (exactly.get("count") or 1)

    def _shuffle_maps(self) -> None:
        """Orders that the reference takes from maps."""
        for job in self.jobs.values():
            job.tasks = self.choices.shuffle(job.tasks)
        self.jobs = dict(self.choices.shuffle(list(self.jobs.items())))
        for node in self.nodes.values():
            node.placed = dict(self.choices.shuffle(list(node.placed.items())))


def parse_time(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
