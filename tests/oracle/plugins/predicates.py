"""predicates: Kubernetes' filters, and the pods they see on each node (spec 06 §2)."""

from __future__ import annotations

import copy
from typing import Any

from tests.oracle import upstream
from tests.oracle.node import Node
from tests.oracle.points import Reasons
from tests.oracle.search import UNRESOLVABLE, UNSCHEDULABLE
from tests.oracle.selectors import Object, selects
from tests.oracle.task import Task

from .base import Plugin

Pair = tuple[str, str]  # topology key and value
Counts = dict[Pair, int]

UNSCHEDULABLE_TAINT = {"key": "node.kubernetes.io/unschedulable", "value": "", "effect": "NoSchedule"}
SWITCHED = (
    "NodeAffinity",
    "NodePorts",
    "TaintToleration",
    "PodAffinity",
    "PodTopologySpread",
    "VolumeBinding",
)


class Predicates(Plugin):
    def open(self) -> None:
        self.on = {name: self.bool_argument(f"predicate.{name}Enable", True) for name in SWITCHED}

    # ---- pre-filters: state for this task; what they skip stays skipped for the cycle (spec 06 §2.3)

    def pre_predicate(self, task: Task) -> None:
        task.filter_state = {}
        if self.session.mended:
            task.skipped_filters = set()
        no_selector = not task.pod_spec.get("nodeSelector")
        if self.on["NodeAffinity"] and no_selector and upstream.required_node_affinity(task) is None:
            task.skipped_filters.add("NodeAffinity")
        if self.on["NodePorts"] and not upstream.host_ports(task):
            task.skipped_filters.add("NodePorts")
        if self.on["PodAffinity"]:
            self._count_affinity(task)
        if self.on["PodTopologySpread"]:
            self._count_spread(task)

    def _count_affinity(self, task: Task) -> None:
        """Pods per topology pair: `existing` that refuse the task, `wanted` and `unwanted` by the task."""
        session = self.session
        existing: Counts = {}
        wanted: Counts = {}
        unwanted: Counts = {}
        for name in session.nodes_with_anti_affinity:
            labels = session.nodes[name].labels
            for pod in session.view[name]:
                for term in upstream.anti_affinity_terms(pod):
                    if upstream.term_matches(term, pod.namespace, task):
                        count_pair(existing, labels, term["topologyKey"])
        own, own_anti = upstream.affinity_terms(task), upstream.anti_affinity_terms(task)
        if own or own_anti:
            for name in session.order:
                labels = session.nodes[name].labels
                for pod in session.view[name]:
                    if own and all(upstream.term_matches(term, task.namespace, pod) for term in own):
                        for term in own:
                            count_pair(wanted, labels, term["topologyKey"])
                    for term in own_anti:
                        if upstream.term_matches(term, task.namespace, pod):
                            count_pair(unwanted, labels, term["topologyKey"])
        task.filter_state.update(existing=existing, wanted=wanted, unwanted=unwanted)
        if not own and not own_anti and not existing:
            task.skipped_filters.add("InterPodAffinity")

    def _count_spread(self, task: Task) -> None:
        """For each hard constraint: pods per domain and the smallest count (spec 06 §2.16)."""
        session = self.session
        constraints = upstream.spread_constraints(task, "DoNotSchedule")
        if not constraints:
            task.skipped_filters.add("PodTopologySpread")
        counted: list[tuple[Object, dict[str, int], int]] = []
        for constraint in constraints:
            domains: dict[str, int] = {}
            for name in session.order:
                node = session.nodes[name]
                has_all_keys = all(other["topologyKey"] in node.labels for other in constraints)
                if has_all_keys and upstream.spread_includes(task, constraint, node):
                    value = node.labels[constraint["topologyKey"]]
                    count = upstream.spread_count(session, task, constraint, name)
                    domains[value] = domains.get(value, 0) + count
            smallest = min(domains.values(), default=2**31 - 1)
            if len(domains) < (constraint.get("minDomains") or 1):
                smallest = 0
            counted.append((constraint, domains, smallest))
        task.filter_state["spread"] = counted

    # ---- filters, in this order; reasons pile up until an unresolvable one (spec 06 §2.2)

    def predicate(self, task: Task, node: Node) -> Reasons:
        if self.session.mended or not task.filter_state:
            self.pre_predicate(task)  # counts of now, also after evictions (spec 06 §11 no. 13)
        reasons: Reasons = []
        if node.kubernetes_allocatable.get("pods") <= len(self.session.view[node.name]):
            reasons.append((UNSCHEDULABLE, "node(s) pod number exceeded"))
        for check in (self._static, self._ports, self._pod_affinity, self._spread):
            reasons += check(task, node)
            if any(code == UNRESOLVABLE for code, _ in reasons):
                return reasons
        return reasons

    def _static(self, task: Task, node: Node) -> Reasons:
        """What only the node object decides (spec 06 §2.8-2.10)."""
        tolerations = upstream.tolerations(task)
        if node.unschedulable and not any(upstream.tolerates(t, UNSCHEDULABLE_TAINT) for t in tolerations):
            return [(UNRESOLVABLE, "node(s) were unschedulable")]
        asks_affinity = self.on["NodeAffinity"] and "NodeAffinity" not in task.skipped_filters
        if asks_affinity and not upstream.matches_node_affinity(task, node):
            return [(UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector")]
        if self.on["TaintToleration"] and not upstream.tolerates_hard_taints(task, node):
            return [(UNRESOLVABLE, "node(s) had untolerated taint(s)")]
        return []

    def _ports(self, task: Task, node: Node) -> Reasons:
        if not self.on["NodePorts"] or "NodePorts" in task.skipped_filters:
            return []
        used = [port for pod in self.session.view[node.name] for port in upstream.host_ports(pod)]
        if any(upstream.ports_clash(port, other) for port in upstream.host_ports(task) for other in used):
            return [(UNSCHEDULABLE, "node(s) didn't have free ports for the requested pod ports")]
        return []

    def _pod_affinity(self, task: Task, node: Node) -> Reasons:
        """Inter-pod affinity (spec 06 §2.12)."""
        if not self.on["PodAffinity"] or "InterPodAffinity" in task.skipped_filters:
            return []
        state, labels = task.filter_state, node.labels
        own = upstream.affinity_terms(task)
        if own and not self._affinity_met(task, own, labels):
            return [(UNRESOLVABLE, "node(s) didn't match pod affinity rules")]
        for term in upstream.anti_affinity_terms(task):
            key = term["topologyKey"]
            if key in labels and state["unwanted"].get((key, labels[key]), 0) > 0:
                return [(UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules")]
        if any(state["existing"].get(pair, 0) > 0 for pair in labels.items()):
            return [(UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules")]
        return []

    def _affinity_met(self, task: Task, own: list[Object], labels: dict[str, str]) -> bool:
        keys = [term["topologyKey"] for term in own]
        if not all(key in labels for key in keys):
            return False
        wanted: Counts = task.filter_state["wanted"]
        if all(wanted.get((key, labels[key]), 0) > 0 for key in keys):
            return True
        # the first pod of a group that wants to be together may go anywhere
        return not wanted and all(upstream.term_matches(term, task.namespace, task) for term in own)

    def _spread(self, task: Task, node: Node) -> Reasons:
        """Hard topology spread (spec 06 §2.16)."""
        if not self.on["PodTopologySpread"] or "PodTopologySpread" in task.skipped_filters:
            return []
        for constraint, domains, smallest in task.filter_state["spread"]:
            key = constraint["topologyKey"]
            if key not in node.labels:
                text = "node(s) didn't match pod topology spread constraints (missing required label)"
                return [(UNRESOLVABLE, text)]
            own = int(selects(upstream.spread_selector(task, constraint), task.labels))
            if domains.get(node.labels[key], 0) + own - smallest > constraint["maxSkew"]:
                return [(UNSCHEDULABLE, "node(s) didn't match pod topology spread constraints")]
        return []

    # ---- events keep the pods that the filters see (spec 06 §2.5)

    def on_allocate(self, task: Task) -> None:
        if task.being_unevicted and self.on["VolumeBinding"] and not self.session.mended:
            return  # reserving anew fails for a victim without state: it stays out of sight (06 §11 no. 3)
        if task not in self.session.view[task.node]:
            self.session.view[task.node].append(task)

    def on_deallocate(self, task: Task) -> None:
        pods = self.session.view.get(task.node, [])
        if task in pods:
            pods.remove(task)

    # ---- simulation for topology-aware preemption (spec 06 §2.6)

    def simulate_add_task(self, task: Task, other: Task, node: Node) -> None:
        self._simulate(task, other, node, 1)

    def simulate_remove_task(self, task: Task, other: Task, node: Node) -> None:
        self._simulate(task, other, node, -1)

    def _simulate(self, task: Task, other: Task, node: Node, change: int) -> None:
        if "InterPodAffinity" in task.skipped_filters or not self.on["PodAffinity"]:
            return
        state, labels = task.filter_state, node.labels
        for term in upstream.anti_affinity_terms(other):
            if upstream.term_matches(term, other.namespace, task):
                count_pair(state["existing"], labels, term["topologyKey"], change)
        own = upstream.affinity_terms(task)
        if own and all(upstream.term_matches(term, task.namespace, other) for term in own):
            for term in own:
                count_pair(state["wanted"], labels, term["topologyKey"], change)
        for term in upstream.anti_affinity_terms(task):
            if upstream.term_matches(term, task.namespace, other):
                count_pair(state["unwanted"], labels, term["topologyKey"], change)

    def simulate_predicate(self, task: Task, node: Node) -> Reasons:
        return self._pod_affinity(task, node)


def saved_state(task: Task) -> dict[str, Any]:
    """A copy of the counts that a simulation changes."""
    return copy.deepcopy({name: task.filter_state.get(name) for name in ("existing", "wanted", "unwanted")})


def count_pair(counts: Counts, labels: dict[str, str], key: str, change: int = 1) -> None:
    """Count a pod in the node's domain; a pair at zero is gone."""
    if key in labels:
        pair = (key, labels[key])
        counts[pair] = counts.get(pair, 0) + change
        if counts[pair] == 0:
            del counts[pair]
