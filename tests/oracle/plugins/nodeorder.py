"""nodeorder: Kubernetes' scorers (spec 06 §3). Image locality is left out."""

from __future__ import annotations

import math
from collections.abc import Callable

from tests.oracle import upstream
from tests.oracle.node import Node
from tests.oracle.selectors import Object
from tests.oracle.task import Task

from .base import Plugin

Scores = dict[str, float]

# scorer -> default weight (spec 06 §3.1)
DEFAULT_WEIGHTS = {
    "leastrequested": 1,
    "mostrequested": 0,
    "balancedresource": 1,
    "nodeaffinity": 2,
    "podaffinity": 2,
    "tainttoleration": 3,
    "podtopologyspread": 2,
}
BALANCED = ("cpu", "memory", "nvidia.com/gpu")
HOSTNAME = "kubernetes.io/hostname"


class NodeOrder(Plugin):
    def open(self) -> None:
        self.weights = {name: self.int_argument(f"{name}.weight", default) for name, default in DEFAULT_WEIGHTS.items()}

    def batch_node_order(self, task: Task, nodes: list[Node]) -> Scores:
        scorers: dict[str, Callable[[Task, list[Node]], Scores | None]] = {
            "leastrequested": self.least_allocated,
            "mostrequested": self.most_allocated,
            "balancedresource": self.balanced_allocation,
            "nodeaffinity": self.node_affinity,
            "podaffinity": self.pod_affinity,
            "tainttoleration": self.taint_toleration,
            "podtopologyspread": self.topology_spread,
        }
        totals = {node.name: 0.0 for node in nodes}
        for name, scorer in scorers.items():
            if self.weights[name]:
                for node, score in (scorer(task, nodes) or {}).items():
                    totals[node] += score * self.weights[name]
        return totals

    # ---- resources (spec 06 §3.3, §3.4)

    def least_allocated(self, task: Task, nodes: list[Node]) -> Scores:
        return self._average(task, nodes, lambda has, asked: 0 if asked > has else (has - asked) * 100 // has)

    def most_allocated(self, task: Task, nodes: list[Node]) -> Scores:
        return self._average(task, nodes, lambda has, asked: min(asked, has) * 100 // has)

    def _average(self, task: Task, nodes: list[Node], score: Callable[[int, int], int]) -> Scores:
        """Average over cpu and memory of a score of (has, would be asked), in whole numbers."""
        out: Scores = {}
        for node in nodes:
            has = (int(node.kubernetes_allocatable.cpu), int(node.kubernetes_allocatable.memory))
            pods = [*self.session.view[node.name], task]
            asked = [sum(pod.nonzero_request[i] for pod in pods) for i in (0, 1)]
            parts = [score(has[i], asked[i]) for i in (0, 1) if has[i]]
            out[node.name] = sum(parts) // len(parts) if parts else 0
        return out

    def balanced_allocation(self, task: Task, nodes: list[Node]) -> Scores | None:
        if all(task.request.get(name) == 0 for name in BALANCED):
            return None
        return {
            node.name: 50 + int((50 + self._balance(task, node, True) - self._balance(task, node, False)) / 2)
            for node in nodes
        }

    def _balance(self, task: Task, node: Node, with_task: bool) -> int:
        """How even the fractions of the dimensions are, with or without the task."""
        fractions = []
        for name in BALANCED:
            has = node.kubernetes_allocatable.get(name)
            if has == 0 or (name == "nvidia.com/gpu" and task.request.get(name) == 0):
                continue
            asked = sum(pod.request.get(name) for pod in self.session.view[node.name])
            asked += task.request.get(name) if with_task else 0
            fractions.append(min(1.0, asked / has))
        deviation = 0.0
        if len(fractions) == 2:
            deviation = abs(fractions[0] - fractions[1]) / 2
        elif len(fractions) > 2:
            mean = sum(fractions) / len(fractions)
            deviation = math.sqrt(sum((fraction - mean) ** 2 for fraction in fractions) / len(fractions))
        return int((1 - deviation) * 100)

    # ---- affinity and taints (spec 06 §3.5, §3.6)

    def node_affinity(self, task: Task, nodes: list[Node]) -> Scores | None:
        terms = upstream.preferred_node_affinity(task)
        if not terms:
            return None
        raw = {
            node.name: sum(t["weight"] for t in terms if upstream.node_term_matches(t["preference"], node))
            for node in nodes
        }
        top = max(raw.values())
        return {name: value * 100 // top if top else 0 for name, value in raw.items()}

    def taint_toleration(self, task: Task, nodes: list[Node]) -> Scores:
        soft = [t for t in upstream.tolerations(task) if t.get("effect", "") in ("", "PreferNoSchedule")]
        raw = {
            node.name: sum(
                taint.get("effect") == "PreferNoSchedule" and not any(upstream.tolerates(t, taint) for t in soft)
                for taint in node.taints
            )
            for node in nodes
        }
        top = max(raw.values())
        return {name: 100 - 100 * value // top if top else 100 for name, value in raw.items()}

    def pod_affinity(self, task: Task, nodes: list[Node]) -> Scores | None:
        session = self.session
        weights: dict[tuple[str, str], int] = {}
        own = upstream.weighted_terms(task)

        def weigh(labels: dict[str, str], term: Object, weight: int) -> None:
            key = term["topologyKey"]
            if key in labels:
                weights[key, labels[key]] = weights.get((key, labels[key]), 0) + weight

        for name in session.order if own else session.nodes_with_affinity:
            labels = session.nodes[name].labels
            for pod in session.view[name]:
                for weight, term in own:
                    if upstream.term_matches(term, task.namespace, pod):
                        weigh(labels, term, weight)
                for weight, term in upstream.weighted_terms(pod):
                    if upstream.term_matches(term, pod.namespace, task):
                        weigh(labels, term, weight)
        if not weights:
            return None
        raw = {node.name: sum(weights.get(pair, 0) for pair in node.labels.items()) for node in nodes}
        low, high = min(raw.values()), max(raw.values())
        return {name: int(100 * (value - low) / (high - low)) if high > low else 0 for name, value in raw.items()}

    # ---- spread (spec 06 §3.7)

    def topology_spread(self, task: Task, nodes: list[Node]) -> Scores | None:
        session = self.session
        constraints = upstream.spread_constraints(task, "ScheduleAnyway")
        keys = [constraint["topologyKey"] for constraint in constraints]
        scored = [node for node in nodes if all(key in node.labels for key in keys)]
        if not constraints or not scored:
            return None
        raw = {node.name: 0.0 for node in scored}
        for constraint in constraints:
            key = constraint["topologyKey"]
            values = {node.labels[key] for node in scored}
            size = len(scored) if key == HOSTNAME else len(values)
            counts: dict[str, int] = {}
            if key != HOSTNAME:
                for name in session.order:
                    node = session.nodes[name]
                    if not all(other in node.labels for other in keys) or node.labels[key] not in values:
                        continue
                    if upstream.spread_includes(task, constraint, node):
                        count = upstream.spread_count(session, task, constraint, name)
                        counts[node.labels[key]] = counts.get(node.labels[key], 0) + count
            for node in scored:
                if key == HOSTNAME:
                    count = upstream.spread_count(session, task, constraint, node.name)
                else:
                    count = counts.get(node.labels[key], 0)
                raw[node.name] += count * math.log(size + 2) + (constraint["maxSkew"] - 1)
        rounded = {name: math.floor(value + 0.5) for name, value in raw.items()}
        low, high = min(rounded.values()), max(rounded.values())
        return {name: 100 * (high + low - value) // high if high else 100 for name, value in rounded.items()}
