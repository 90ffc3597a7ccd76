"""binpack: fuller nodes first (spec 06 §4)."""

from __future__ import annotations

from tests.oracle.node import Node
from tests.oracle.task import Task

from .base import Plugin, names_of


class BinPack(Plugin):
    def open(self) -> None:
        self.weight = self.int_argument("binpack.weight", 1)
        names = names_of(self.arguments.get("binpack.resources"))
        self.resource_weights = {name: self.weight_argument(f"binpack.resources.{name}") for name in names}
        for name in ("cpu", "memory"):
            self.resource_weights[name] = self.weight_argument(f"binpack.{name}")

    def node_order(self, task: Task, node: Node) -> float:
        score, weights = 0.0, 0
        for name in task.request.names():
            if name not in self.resource_weights:
                continue
            weight, has = self.resource_weights[name], node.allocatable.get(name)
            after = task.request.get(name) + node.used.get(name)
            weights += weight
            if weight == 0 or has == 0:
                continue
            if after > has:
                return 0.0
            score += after * weight / has
        return score / weights * 100 * self.weight if weights > 0 else 0.0
