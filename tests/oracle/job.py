"""Jobs (a PodGroup with its pods) and sub-jobs (spec 01 §3, §4; 05 §1.2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .quantity import boolean, integer
from .resources import Resources, from_list, positive_part, total_of
from .selectors import Object, annotation_or_label, created, selects
from .task import ALLOCATED, QUEUE_GATE, READY, SCHEDULED, Task

FitErrors = dict[str, dict[str, list[tuple[int, str]]]]  # task uid -> node -> [(code, reason)]


@dataclass
class TopologyDemand:
    """A network-topology demand after normalisation (spec 07 §4.4); `tier` None means not resolved."""

    mode: str
    tier: int | None
    tier_name: str = ""

    @property
    def is_hard(self) -> bool:
        return self.mode == "hard" and self.tier is not None


class _Counted:
    """What jobs and sub-jobs count alike (spec 01 §3.5, §4)."""

    tasks: list[Task]
    minimum: int

    def count(self, *statuses: str) -> int:
        return sum(task.status in statuses for task in self.tasks)

    def ready_count(self) -> int:
        return self.count(*READY)

    def waiting_count(self) -> int:
        return self.count("Pipelined")

    def best_effort_count(self) -> int:
        """Pending tasks without a request; they count as ready."""
        return sum(task.status == "Pending" and task.best_effort for task in self.tasks)

    def is_ready(self) -> bool:
        return self.ready_count() + self.best_effort_count() >= self.minimum

    def is_pipelined(self) -> bool:
        return self.waiting_count() + self.ready_count() + self.best_effort_count() >= self.minimum


@dataclass
class SubJob(_Counted):
    """Tasks of a job that share a sub-group; a job without policies has one for all its tasks (01 §4)."""

    uid: str
    group: str
    minimum: int
    index: int
    tasks: list[Task] = field(default_factory=list)
    topology: TopologyDemand | None = None
    allocated_hyper_node: str = ""

    def priority(self) -> int:
        return max([0, *(task.priority for task in self.tasks)])


class Job(_Counted):
    """One PodGroup and its tasks."""

    def __init__(self, pod_group: Object, class_values: dict[str, int], default_priority: int) -> None:
        metadata, spec = pod_group["metadata"], pod_group.get("spec") or {}
        self.pod_group = pod_group
        self.namespace = metadata.get("namespace", "")
        self.key = f"{self.namespace}/{metadata['name']}"
        self.queue = spec.get("queue") or "default"
        self.minimum = spec.get("minMember") or 0
        self.role_minimum: dict[str, int] = dict(spec.get("minTaskMember") or {})
        self.role_minimum_sum = sum(self.role_minimum.values())
        self.priority = class_values.get(spec.get("priorityClassName", ""), default_priority)
        self.min_resources_list: dict[str, str] | None = spec.get("minResources")
        self.min_resources = from_list(self.min_resources_list)
        self.phase = (pod_group.get("status") or {}).get("phase", "")
        self.created = created(pod_group)
        self.tasks = []
        self.policies: list[Object] = spec.get("subGroupPolicy") or []
        self.topology_spec: Object | None = spec.get("networkTopology")
        self.topology: TopologyDemand | None = None
        self.allocated_hyper_node = ""
        self.sub_jobs: dict[str, SubJob] = {}
        self.fit_errors: FitErrors = {}
        self.marked_unschedulable = False
        switch = annotation_or_label(pod_group, "volcano.sh/preemptable")
        self.preemptable = False if switch is None else bool(boolean(switch))
        # the gang actions read the same switch with the other default (spec 04 §9.3)
        self.gang_evictable = True if switch is None else bool(boolean(switch))

    @property
    def waits_for_admission(self) -> bool:
        return self.phase in ("Pending", "")

    def group_key(self, policy: Object) -> str:
        return f"{self.key}/{policy.get('name', '')}"

    def add(self, task: Task) -> None:
        """Take a task in and give it its sub-job (spec 01 §4, 07 §4.2)."""
        self.tasks.append(task)
        sub_job = SubJob(self.key, self.key, 1 if self.policies else self.minimum, 0)
        for policy in self.policies:
            keys = policy.get("matchLabelKeys") or []
            selector = policy.get("labelSelector")
            if (
                keys
                and all(task.labels.get(key) for key in keys)
                and (selector is None or selects(selector, task.labels))
            ):
                values = [task.labels[key] for key in keys]
                group = self.group_key(policy)
                size = policy.get("subGroupSize", 1)
                sub_job = SubJob(f"{group}-{'-'.join(values)}", group, size, integer(values[0]) or 0)
                break
        task.sub_job = self.sub_jobs.setdefault(sub_job.uid, sub_job)
        task.sub_job.tasks.append(task)

    def allocated(self) -> Resources:
        return total_of(task.request for task in self.tasks if task.status in ALLOCATED)

    def allocated_count(self) -> int:
        return self.count(*ALLOCATED)

    def scheduled_count(self) -> int:
        return self.count(*SCHEDULED)

    def releasing_count(self) -> int:
        """Releasing tasks that have a node."""
        return sum(task.status == "Releasing" and bool(task.node) for task in self.tasks)

    def roles_reach_minimum(self, statuses: tuple[str, ...]) -> bool:
        """Every role has its minimum; not asked when the minima exceed minMember (spec 01 §3.6)."""
        if self.minimum < self.role_minimum_sum:
            return True
        return all(self.role_count(role, statuses) >= minimum for role, minimum in self.role_minimum.items())

    def role_count(self, role: str, statuses: tuple[str, ...]) -> int:
        """Tasks of the role in these statuses, and best-effort tasks that wait."""
        return sum(
            task.role == role and (task.status in statuses or (task.status == "Pending" and task.best_effort))
            for task in self.tasks
        )

    def sub_groups_reach_minimum(self, good: Callable[[SubJob], bool]) -> bool:
        """Every policy has `minSubGroups` sub-jobs that are good (spec 01 §4)."""
        for policy in self.policies:
            wanted = policy.get("minSubGroups") or 0
            group = self.group_key(policy)
            if wanted > 0 and sum(s.group == group and good(s) for s in self.sub_jobs.values()) < wanted:
                return False
        return True

    def reserve(self) -> Resources:
        """What of minResources is not allocated yet (spec 05 §1.2)."""
        allocated, rest = self.allocated(), Resources()
        for name in self.min_resources.dimensions():
            wanted = self.min_resources.get(name)
            left = wanted - allocated.get(name)
            if name in ("cpu", "memory"):
                rest.set(name, max(0.0, left))
            elif name not in (allocated.scalars or {}):
                rest.set(name, wanted)
            elif left > 0:
                rest.set(name, left)
        return rest

    def without_gated(self, amount: Resources) -> Resources:
        """The amount less what tasks with foreign gates ask (spec 05 §1.2)."""
        gated = total_of(task.request for task in self.tasks if task.gates and task.gates != [QUEUE_GATE])
        if gated.is_empty():
            return amount
        scalars: dict[str, float] | None = None
        if amount.scalars is not None:
            scalars = {name: max(0.0, value - gated.get(name)) for name, value in amount.scalars.items()}
        return Resources(max(0.0, amount.cpu - gated.cpu), max(0.0, amount.memory - gated.memory), scalars)

    def elastic(self) -> Resources:
        """What is allocated beyond minResources (spec 05 §1.2)."""
        return positive_part(self.allocated(), self.min_resources)

    def wants_topology(self) -> bool:
        return self.topology is not None or any(sub_job.topology for sub_job in self.sub_jobs.values())

    def has_hard_topology(self) -> bool:
        demands: list[Any] = [self.topology, *(sub_job.topology for sub_job in self.sub_jobs.values())]
        return any(demand is not None and demand.is_hard for demand in demands)
