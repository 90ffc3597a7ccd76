"""A node and its amounts (spec 01 §5)."""

from __future__ import annotations

from .resources import Resources, from_list, plus
from .selectors import Object, annotation, labels_of
from .task import Task

OVERSUBSCRIPTION = (
    ("cpu", "volcano.sh/oversubscription-cpu"),
    ("memory", "volcano.sh/oversubscription-memory"),
)


class Node:
    """Allocatable, idle, used, releasing and pipelined amounts, and the tasks that make them."""

    def __init__(self, obj: Object, arrival: int) -> None:
        self.obj, self.name, self.arrival = obj, obj["metadata"]["name"], arrival
        self.labels = labels_of(obj)
        status, spec = obj.get("status") or {}, obj.get("spec") or {}
        self.allocatable = from_list(status.get("allocatable"))
        self.kubernetes_allocatable = self.allocatable.clone()  # the upstream filters and scorers see this one
        for name, key in OVERSUBSCRIPTION:
            try:
                self.allocatable.set(name, self.allocatable.get(name) + float(annotation(obj, key) or 0))
            except ValueError:
                continue
        self.capacity = from_list(status.get("capacity"))
        self.idle, self.used = self.allocatable.clone(), Resources()
        self.releasing, self.pipelined = Resources(), Resources()
        self.placed: dict[str, tuple[Task, str]] = {}  # pod key -> (task, status when it was added)
        self.taints: list[Object] = spec.get("taints") or []
        self.unschedulable = bool(spec.get("unschedulable"))

    def tasks(self) -> list[Task]:
        return [task for task, _ in self.placed.values()]

    def add(self, task: Task) -> None:
        """Charge a task by its status (spec 01 §5.2)."""
        if task.key in self.placed:
            raise RuntimeError(f"{task.key} is already on node {self.name}")
        if task.status == "Pipelined":
            self.pipelined.add(task.request)
        else:
            self.idle.subtract(task.request)
            self.used.add(task.request)
            if task.status == "Releasing":
                self.releasing.add(task.request)
        self.placed[task.key] = (task, task.status)

    def remove(self, task: Task) -> None:
        _, status = self.placed.pop(task.key)
        if status == "Pipelined":
            self.pipelined.subtract(task.request)
        else:
            self.idle.add(task.request)
            self.used.subtract(task.request)
            if status == "Releasing":
                self.releasing.subtract(task.request)

    def update(self, task: Task) -> None:
        """Charge anew after a change of status."""
        self.remove(task)
        self.add(task)

    def future_idle(self) -> Resources:
        """Idle once what is being released is gone, less what is promised."""
        return plus(self.idle, self.releasing).subtract(self.pipelined)
