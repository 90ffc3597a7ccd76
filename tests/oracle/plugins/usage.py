"""usage: keep away from nodes with high measured load (spec 06 §6)."""

from __future__ import annotations

from typing import Any

from tests.oracle.node import Node
from tests.oracle.points import Reasons
from tests.oracle.quantity import away_from_zero, quantity
from tests.oracle.search import UNRESOLVABLE
from tests.oracle.task import Task, limits_of

from .base import Plugin, int_or, is_integer, is_number

MEBIBYTE = 1024.0 * 1024
STALE_S = 300
YOUNG_S = 30


class Usage(Plugin):
    def open(self) -> None:
        self._read_arguments()
        self.shadow = {name: [0.0, 0.0] for name in self.session.nodes}  # node -> [milli-CPU, bytes] estimated
        self.estimates: dict[str, tuple[str, list[float]]] = {}  # task uid -> (node, its part of the shadow)
        for node in self.session.nodes.values():
            for task, status in node.placed.values():
                if status in ("Allocated", "Binding", "Bound") or (status == "Running" and self._is_young(task)):
                    self._add(task, node)

    def _read_arguments(self) -> None:
        """Weights, thresholds, the estimator; what is out of range gives the default (spec 06 §6.1)."""

        def whole(values: dict[str, Any], key: str, default: int, most: int | None = None) -> int:
            value = int_or(values.get(key), default)
            return value if value >= 0 and (most is None or value <= most) else default

        def section(name: str) -> dict[str, Any]:
            value = self.arguments.get(name)
            return value if isinstance(value, dict) else {}

        self.weight = whole(self.arguments, "usage.weight", 5)
        self.cpu_weight, self.memory_weight = (whole(self.arguments, f"{n}.weight", 1) for n in ("cpu", "memory"))
        thresholds, estimator = section("thresholds"), section("estimator")
        self.cpu_threshold = whole(thresholds, "cpu", 80, 100)
        self.memory_threshold = whole(thresholds, "mem", 80, 100)

        def fraction(key: str, default: float, least: float, most: float) -> float:
            value = estimator.get(key)
            return float(value) if value is not None and is_number(value) and least <= value <= most else default

        self.request_ratio = fraction("request_ratio", 0.7, 0, 1)
        self.burst_ratio = fraction("burst_ratio", 0.0, 0, 1)
        self.risk_threshold = fraction("risk_threshold", 0.6, 0, 1)
        self.risk_factor = fraction("risk_factor", 1.2, 1, float("inf"))
        self.best_effort_cpu = best_effort_amount(estimator.get("be_cpu"), 250.0, 1.0, 1000)
        self.best_effort_memory = best_effort_amount(estimator.get("be_mem"), 200 * MEBIBYTE, MEBIBYTE, 1)

    def _is_young(self, task: Task) -> bool:
        from tests.oracle.session import parse_time

        started = task.pod_status.get("startTime")
        return not started or (self.session.now - parse_time(started)).total_seconds() < YOUNG_S

    # ---- measured and estimated load (spec 06 §6.2, §6.5, §6.6)

    def _measured(self, node: Node) -> dict[str, Any]:
        return (self.session.case.get("metrics") or {}).get(node.name) or {}

    def _is_fresh(self, node: Node) -> bool:
        from tests.oracle.session import parse_time

        timestamp = self._measured(node).get("timestamp")
        if not timestamp:
            return False
        return (self.session.now - parse_time(timestamp)).total_seconds() <= STALE_S

    def _load(self, node: Node) -> tuple[float, float]:
        """Measured plus estimated load of cpu and memory, 0 to 1."""
        measured, out = self._measured(node), []
        for index, (name, capacity) in enumerate((("cpu", node.capacity.cpu), ("memory", node.capacity.memory))):
            used = measured.get(name, 0) / 100 * capacity + self.shadow[node.name][index]
            out.append(min(1.0, max(0.0, used / capacity)) if capacity > 0 else 0.0)
        return out[0], out[1]

    def _weighted(self, cpu: float, memory: float) -> float:
        weights = self.cpu_weight + self.memory_weight
        return (cpu * self.cpu_weight + memory * self.memory_weight) / weights if weights else 0.0

    def _estimate(self, task: Task, risk: float) -> list[float]:
        if task.best_effort:
            return [self.best_effort_cpu * risk, self.best_effort_memory * risk]
        limits, out = limits_of(task.pod_spec), []
        for name in ("cpu", "memory"):
            request = task.request.get(name)
            limit = max(limits.get(name), request)
            load = (request * self.request_ratio + (limit - request) * self.burst_ratio) * risk
            out.append(min(limit, max(0.0, load)))
        return out

    def _add(self, task: Task, node: Node) -> None:
        risk = self.risk_factor if self._weighted(*self._load(node)) >= self.risk_threshold else 1.0
        estimate = self._estimate(task, risk)
        self._drop(task)
        for index in (0, 1):
            self.shadow[node.name][index] += estimate[index]
        self.estimates[task.uid] = (node.name, estimate)

    def _drop(self, task: Task) -> None:
        node, estimate = self.estimates.pop(task.uid, ("", []))
        for index, amount in enumerate(estimate):
            self.shadow[node][index] = max(0.0, self.shadow[node][index] - amount)

    def on_allocate(self, task: Task) -> None:
        self._add(task, self.session.nodes[task.node])

    def on_deallocate(self, task: Task) -> None:
        self._drop(task)

    # ---- extension points (spec 06 §6.3, §6.4)

    def predicate(self, task: Task, node: Node) -> Reasons:
        if not self._is_fresh(node):
            return []
        measured = self._measured(node)
        if measured.get("cpu", 0) > self.cpu_threshold:
            return [(UNRESOLVABLE, "the CPU load of the node exceeds the upper limit.")]
        if measured.get("memory", 0) > self.memory_threshold:
            return [(UNRESOLVABLE, "the memory load of the node exceeds the upper limit.")]
        return []

    def node_order(self, task: Task, node: Node) -> float:
        if not self._is_fresh(node):
            return 0.0
        cpu, memory = self._load(node)
        return self._weighted(1 - cpu, 1 - memory) * 100 * self.weight


def best_effort_amount(value: Any, default: float, unit: float, factor: int) -> float:
    """An integer in units, or a quantity; anything else gives the default."""
    if is_integer(value):
        return float(value) * unit if value >= 0 else default
    try:
        amount = away_from_zero(quantity(value) * factor)
    except ValueError:
        return default
    return amount if amount >= 0 else default
