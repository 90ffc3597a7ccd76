"""network-topology-aware: keep a job's tasks under one HyperNode, and near each other (spec 07 §5)."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.hypernodes import HyperNode
from tests.oracle.job import Job, SubJob
from tests.oracle.node import Node
from tests.oracle.resources import Resources, fits, total_of
from tests.oracle.task import Task

from .base import Plugin, is_number, names_of

MAX_EVICT_HYPER_NODES = 8
DEFAULT_FADING = 0.8


class NetworkTopologyAware(Plugin):
    def open(self) -> None:
        self.topology = self.session.topology
        self.weight = self.weight_argument("weight")
        names = names_of(self.arguments.get("hypernode.binpack.resources"))
        self.resource_weights = {name: self.weight_argument(f"hypernode.binpack.resources.{name}") for name in names}
        for name in ("cpu", "memory"):
            self.resource_weights[name] = self.weight_argument(f"hypernode.binpack.{name}")
        self.scores_normal_pods = self.bool_argument("hypernode.binpack.normal-pod.enable", True)
        fading = self.arguments.get("hypernode.binpack.normal-pod.fading", DEFAULT_FADING)
        self.fading = float(fading) if is_number(fading) and fading >= 0 else DEFAULT_FADING
        most = self.int_argument("hypernode.gradient.evict.max-hypernodes", MAX_EVICT_HYPER_NODES)
        self.most_evict_hyper_nodes = most if most > 0 else MAX_EVICT_HYPER_NODES

    # ---- state: what is used in each HyperNode (spec 07 §5.2)

    def on_allocate(self, task: Task) -> None:
        self._charge(task, 1)

    def on_deallocate(self, task: Task) -> None:
        self._charge(task, -1)

    def _charge(self, task: Task, sign: int) -> None:
        for hyper_node in self.topology.table.values():
            if task.node in hyper_node.members:
                hyper_node.used.add(task.request.times(sign))

    # ---- scores (spec 07 §5.3, §5.4)

    def _fill(self, hyper_node: HyperNode, request: Resources) -> float:
        """How full the HyperNode would be, weighted over what is asked; 0 if it would be too full."""
        score = weights = 0.0
        for name, weight in self.resource_weights.items():
            if request.get(name) <= 0:
                continue
            after = hyper_node.used.get(name) + request.get(name)
            if after > hyper_node.allocatable.get(name):
                return 0.0
            score += weight * after / hyper_node.allocatable.get(name)
            weights += weight
        return score / weights if weights else 0.0

    def _part_inside(self, sub_job: SubJob, name: str) -> float:
        """The part of the sub-job's tasks that is in the HyperNode already."""
        if not name:
            return 0.0
        members = self.topology.table[name].members
        return sum(task.node in members for task in sub_job.tasks) / len(sub_job.tasks)

    def hyper_node_order(self, sub_job: SubJob, names: list[str]) -> dict[str, float]:
        request = total_of(task.request for task in sub_job.tasks)
        scores = {name: self._fill(self.topology.table[name], request) for name in names}
        add_bonus(scores, lambda name: self._part_inside(sub_job, name))
        return {name: score * 100 * self.weight for name, score in scores.items()}

    def batch_node_order(self, task: Task, nodes: list[Node]) -> dict[str, float] | None:
        if task.job_key not in self.session.jobs or task.sub_job is None:
            return None
        if task.sub_job.topology:
            return self._near_hint(task, task.sub_job, nodes)
        return self._normal_pod(task, nodes)

    def _near_hint(self, task: Task, sub_job: SubJob, nodes: list[Node]) -> dict[str, float] | None:
        """By the tier at which a node meets the HyperNode in which the sub-job sits."""
        if not task.topology_hint:
            return None
        lowest = {node.name: self.topology.of_lowest_tier(node.name) for node in nodes}
        scores = {name: self._closeness(hyper_node, task.topology_hint) for name, hyper_node in lowest.items()}
        add_bonus(scores, lambda name: self._part_inside(sub_job, lowest[name]))
        return {name: score * 100 * self.weight for name, score in scores.items()}

    def _closeness(self, hyper_node: str, hint: str) -> float:
        if not hyper_node:
            return 0.0
        if hyper_node == hint:
            return 1.0
        low, high = self.topology.tiers[0], self.topology.tiers[-1]
        meeting = self.topology.common_ancestor(hyper_node, hint)
        tier = self.topology.table[meeting].tier if meeting else low - 1
        if not low <= tier <= high:
            return 0.0
        return 1.0 if low == high else (high - tier) / (high - low)

    def _normal_pod(self, task: Task, nodes: list[Node]) -> dict[str, float] | None:
        """Pods without topology fill up HyperNodes, lower tiers counting more."""
        low, high = self.topology.tiers[0], self.topology.tiers[-1]
        weights = {tier: self.fading ** (tier - 1) for tier in range(low, high + 1)}
        if not self.scores_normal_pods or sum(weights.values()) <= 0:
            return None
        scores = {}
        for node in nodes:
            total = 0.0
            for tier, weight in weights.items():
                holding = [h for h in self.topology.table.values() if h.tier == tier and node.name in h.members]
                total += weight * (self._fill(holding[0], task.request) if holding else 1.0)
            scores[node.name] = total / sum(weights.values()) * 100 * self.weight
        return scores

    # ---- gradients (spec 07 §5.5)

    def gradient(self, unit: Job | SubJob, start: str, purpose: str) -> list[list[str]]:
        """HyperNodes within the demanded tier, lowest first; for evictions widest first and not too many."""
        if unit.topology is None or not unit.topology.is_hard or unit.topology.tier is None:
            return [[start]]
        limit, table = unit.topology.tier, self.topology.table
        root = self._search_root(unit, start, limit)
        if root is None:
            return []
        need = self._need(unit)
        groups: dict[int, list[str]] = {}
        waiting = [root]
        while waiting:
            name = waiting.pop(0)
            waiting += table[name].children
            if table[name].tier > limit:
                continue
            if not unit.allocated_hyper_node and not has_room(table[name], need, purpose):
                continue
            groups.setdefault(table[name].tier, []).append(name)
        ordered = [self.session.choices.shuffle(groups[tier]) for tier in sorted(groups)]
        return self._widest(ordered[::-1]) if purpose == "evict" else ordered

    def _need(self, unit: Job | SubJob) -> Resources:
        if isinstance(unit, Job):
            return unit.min_resources
        return total_of(task.request for task in unit.tasks if task.status == "Pending")

    def _search_root(self, unit: Job | SubJob, start: str, limit: int) -> str | None:
        """Where to search: what is allocated binds the rest to the widest HyperNode within the tier."""
        if not unit.allocated_hyper_node:
            return start
        bound = ""
        for name in self.topology.ancestors(unit.allocated_hyper_node):
            if self.topology.table[name].tier > limit:
                break
            bound = name
        if not bound:
            return None
        meeting = self.topology.common_ancestor(start, bound)
        if meeting == bound:
            return start
        return bound if meeting == start else None

    def _widest(self, groups: list[list[str]]) -> list[list[str]]:
        left, out = self.most_evict_hyper_nodes, []
        for group in groups:
            if left > 0:
                out.append(group[-left:])
                left -= len(out[-1])
        return out


def has_room(hyper_node: HyperNode, need: Resources, purpose: str) -> bool:
    if purpose == "allocate":
        return fits(need, hyper_node.idle) or fits(need, hyper_node.future_idle)
    return fits(need, hyper_node.allocatable)


def add_bonus(scores: dict[str, float], bonus: Callable[[str], float]) -> None:
    """Break a tie at the top by a bonus."""
    top = max(scores.values())
    first = [name for name, score in scores.items() if score == top]
    if len(first) > 1:
        for name in first:
            scores[name] += bonus(name)
