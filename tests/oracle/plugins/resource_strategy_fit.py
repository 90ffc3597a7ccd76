"""resource-strategy-fit: least or most allocated per resource, scarce resources kept free (spec 06 §7)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.oracle.node import Node
from tests.oracle.points import Reasons
from tests.oracle.search import UNRESOLVABLE
from tests.oracle.selectors import annotation
from tests.oracle.task import Task

from .base import Plugin, names_of

DEFAULT_WEIGHT = 10
STRATEGIES = ("LeastAllocated", "MostAllocated")
TYPE = "volcano.sh/resource-strategy-scoring-type"
WEIGHTS = "volcano.sh/resource-strategy-weight"

Strategy = tuple[str, float]  # (strategy, weight)


class ResourceStrategyFit(Plugin):
    def open(self) -> None:
        self.weight = self.int_argument("resourceStrategyFitWeight", DEFAULT_WEIGHT)
        self.weight = DEFAULT_WEIGHT if self.weight < 0 else self.weight
        self.strategies: dict[str, Strategy] = {}
        for name, entry in (self.arguments.get("resources") or {"cpu": {}, "memory": {}}).items():
            if "*" in name[:-1] or name == "*":
                continue
            strategy = entry.get("type") if entry.get("type") in STRATEGIES else STRATEGIES[0]
            self.strategies[name] = (strategy, entry.get("weight") if (entry.get("weight") or 0) > 0 else 1)
        self._open_scarce(self.arguments.get("sra") or {})
        proportional = self.arguments.get("proportional") or {}
        if proportional.get("enable"):
            self._open_proportional(proportional)
            self.predicate = self._predicate

    def _open_scarce(self, sra: dict[str, Any]) -> None:
        enabled = bool(sra.get("enable"))
        self.scarce_weight = int(sra.get("weight") or 0) if enabled else 0
        weights = sra.get("resourceWeight") or {}
        names = names_of(sra.get("resources")) if enabled else []
        self.scarce = {name: not_negative(weights.get(name, 1)) for name in names}

    def _open_proportional(self, proportional: dict[str, Any]) -> None:
        """Milli-CPU and bytes to keep free per unit of each resource, as factors."""
        factors = proportional.get("resourceProportion") or {}
        self.proportions = {
            name: (
                not_negative(factors.get(f"{name}.cpu", 1)),
                not_negative(factors.get(f"{name}.memory", 1)),
            )
            for name in names_of(proportional.get("resources"))
        }

    # ---- keep cpu and memory for accelerators (spec 06 §7.5)

    def _predicate(self, task: Task, node: Node) -> Reasons:
        if any(task.request.get(name) > 0 for name in self.proportions):
            return []
        for name, (cpu, memory) in self.proportions.items():
            if name not in (node.idle.scalars or {}):
                continue
            units = node.idle.get(name) / 1000
            cpu_left, memory_left = node.idle.cpu - task.request.cpu, node.idle.memory - task.request.memory
            if cpu_left < units * cpu * 1000 or memory_left < units * memory * 1e9:
                return [(UNRESOLVABLE, f"proportional of resource {name} check failed")]
        return []

    # ---- scores (spec 06 §7.2-7.4)

    def node_order(self, task: Task, node: Node) -> float:
        return self._strategy_score(task, node) + self._scarce_score(task, node)

    def _strategy_score(self, task: Task, node: Node) -> float:
        find = self._strategy_finder(task)
        if find is None:
            return 0.0
        score, weights = 0.0, 0.0
        for name in task.request.names():
            strategy = find(name)
            if strategy is None:
                continue
            kind, weight = strategy
            after, has = task.request.get(name) + node.used.get(name), node.allocatable.get(name)
            weights += weight
            if weight == 0 or has == 0:
                continue
            if after > has:
                return 0.0
            if kind == "MostAllocated":
                score += after * weight / has
            elif kind == "LeastAllocated":
                score += (has - after) * weight / has
        return score / weights * 100 * self.weight if weights else 0.0

    def _strategy_finder(self, task: Task) -> Callable[[str], Strategy | None] | None:
        """The pod's own strategy from its annotations, else the plugin's; None if they are broken."""
        kind = annotation(task.pod, TYPE)
        if not kind:
            return self._configured
        try:
            weights = json.loads(annotation(task.pod, WEIGHTS) or "")
        except ValueError:
            return None
        return lambda name: (kind, weights[name]) if name in weights else None

    def _configured(self, name: str) -> Strategy | None:
        """The exact name, else the longest prefix that ends in `*`."""
        if name in self.strategies:
            return self.strategies[name]
        prefixes = [p for p in self.strategies if p.endswith("*") and name.startswith(p[:-1])]
        return self.strategies[max(prefixes, key=len)] if prefixes else None

    def _scarce_score(self, task: Task, node: Node) -> float:
        if not self.scarce_weight or not self.scarce:
            return 0.0
        if any(node.allocatable.get(name) == 0 for name in task.request.names()):
            return 0.0
        present = sum(weight for name, weight in self.scarce.items() if node.allocatable.get(name) > 0)
        return (1 - present / sum(self.scarce.values())) * 100 * self.scarce_weight


def not_negative(value: float) -> float:
    return 1 if value < 0 else value
