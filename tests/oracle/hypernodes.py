"""HyperNodes: the tree, topology demands of jobs, allocated HyperNodes (spec 03 §2.1-2.3, 07 §3-4)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .job import Job, SubJob, TopologyDemand
from .resources import Resources, total_of
from .selectors import Object, has_requirements, selects
from .task import ALLOCATED

if TYPE_CHECKING:
    from .session import Session

ROOT = "<cluster-top-hypernode>"


@dataclass
class HyperNode:
    """One HyperNode with the nodes below it and their amounts at the start of the session."""

    name: str
    tier: int
    parent: str = ""
    children: list[str] = field(default_factory=list)
    own_nodes: list[str] = field(default_factory=list)
    members: set[str] = field(default_factory=set)
    nodes: list[str] = field(default_factory=list)  # the members in node order
    allocatable: Resources = field(default_factory=Resources)
    used: Resources = field(default_factory=Resources)
    idle: Resources = field(default_factory=Resources)
    future_idle: Resources = field(default_factory=Resources)


class HyperNodes:
    """The tree of a session, with a made root above all."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.ready = True  # False: a HyperNode with two parents; topology jobs then wait
        self.table: dict[str, HyperNode] = {}
        self.tier_names: dict[str, int] = {}
        self._read(session.of_kind("HyperNode"))
        self._add_root()
        for hyper_node in self.table.values():
            self._sum_up(hyper_node)
        self.tiers = sorted({hyper_node.tier for hyper_node in self.table.values()})
        for job in session.jobs.values():
            self._set_demands(job)
        if self.ready:
            for job in session.jobs.values():
                if job.wants_topology():
                    self._recover_allocated(job)

    # ---- the tree (spec 07 §3.2, 03 §2.1)

    def _read(self, objects: list[Object]) -> None:
        for obj in objects:
            spec, name = obj["spec"], obj["metadata"]["name"]
            self.table[name] = HyperNode(name, spec.get("tier", 0))
            if spec.get("tierName"):
                self.tier_names[spec["tierName"]] = spec.get("tier", 0)
        for obj in objects:
            hyper_node = self.table[obj["metadata"]["name"]]
            for member in obj["spec"].get("members") or []:
                selector = member.get("selector") or {}
                if member["type"] == "Node":
                    hyper_node.own_nodes += self._selected_nodes(selector)
                elif "exactMatch" in selector:
                    self._adopt(hyper_node, selector["exactMatch"]["name"])

    def _selected_nodes(self, selector: Object) -> list[str]:
        if "exactMatch" in selector:
            return [selector["exactMatch"]["name"]]
        if "regexMatch" in selector:
            return [name for name in self.session.order if re.search(selector["regexMatch"]["pattern"], name)]
        if "labelMatch" in selector and has_requirements(selector["labelMatch"]):
            nodes = self.session.nodes
            return [n for n in self.session.order if selects(selector["labelMatch"], nodes[n].labels)]
        return []

    def _adopt(self, parent: HyperNode, name: str) -> None:
        child = self.table.get(name)
        if child is None:
            return
        if child.parent:
            self.ready = False
            return
        child.parent = parent.name
        parent.children.append(name)

    def _add_root(self) -> None:
        tops = [name for name, hyper_node in self.table.items() if not hyper_node.parent]
        tier = max([0, *(hyper_node.tier for hyper_node in self.table.values())]) + 1
        for hyper_node in self.table.values():
            hyper_node.members = self._below(hyper_node) & set(self.session.nodes)
        for name in tops:
            self.table[name].parent = ROOT
        self.table[ROOT] = HyperNode(ROOT, max(1, tier), children=tops, members=set(self.session.nodes))

    def _below(self, hyper_node: HyperNode) -> set[str]:
        names = set(hyper_node.own_nodes)
        for child in hyper_node.children:
            names |= self._below(self.table[child])
        return names

    def _sum_up(self, hyper_node: HyperNode) -> None:
        hyper_node.nodes = [name for name in self.session.order if name in hyper_node.members]
        nodes = [self.session.nodes[name] for name in hyper_node.nodes]
        hyper_node.allocatable = total_of(node.allocatable for node in nodes)
        hyper_node.used = total_of(node.used for node in nodes)
        hyper_node.idle = total_of(node.idle for node in nodes)
        hyper_node.future_idle = total_of(node.future_idle() for node in nodes)

    # ---- demands and what is allocated already (spec 07 §4.4, §4.5)

    def _demand(self, spec: Object | None) -> TopologyDemand | None:
        if not spec:
            return None
        tier_name = spec.get("highestTierName") or ""
        tier = spec.get("highestTierAllowed")
        if tier is None and tier_name in self.tier_names:
            tier = self.tier_names[tier_name]
        return TopologyDemand(spec.get("mode", ""), tier, tier_name)

    def _set_demands(self, job: Job) -> None:
        root_tier = self.table[ROOT].tier
        job.topology = self._demand(job.topology_spec)
        if job.topology and job.topology.mode == "soft":
            job.topology = TopologyDemand("hard", root_tier)
        bound = job.topology.tier if job.topology and job.topology.tier is not None else root_tier
        policies = {job.group_key(policy): policy for policy in job.policies}
        for sub_job in job.sub_jobs.values():
            if sub_job.group in policies:
                sub_job.topology = self._demand(policies[sub_job.group].get("networkTopology"))
            else:
                sub_job.topology = job.topology
            if sub_job.topology and sub_job.topology.mode == "soft":
                sub_job.topology = TopologyDemand("hard", bound)

    def _recover_allocated(self, job: Job) -> None:
        """The lowest HyperNode that holds a sub-job's allocated tasks; the job's is their common ancestor."""
        recovered = False
        for sub_job in job.sub_jobs.values():
            if not sub_job.topology:
                continue
            common: set[str] | None = None
            for task in sub_job.tasks:
                if task.status in ALLOCATED and task.node:
                    holding = {name for name, h in self.table.items() if task.node in h.members}
                    common = holding if common is None else common & holding
            if common:
                sub_job.allocated_hyper_node = min(sorted(common), key=lambda name: self.table[name].tier)
                recovered = True
        if recovered:
            name = ""
            for sub_job in job.sub_jobs.values():
                if sub_job.allocated_hyper_node:
                    name = self.common_ancestor(name, sub_job.allocated_hyper_node)
            job.allocated_hyper_node = name

    # ---- questions

    def ancestors(self, name: str) -> list[str]:
        """The HyperNode itself and everything above it."""
        chain = []
        while name and name in self.table:
            chain.append(name)
            name = self.table[name].parent
        return chain

    def common_ancestor(self, left: str, right: str) -> str:
        """The lowest common ancestor; with one side empty, the other."""
        if not left or not right:
            return left or right
        above_left = self.ancestors(left)
        return next((name for name in self.ancestors(right) if name in above_left), "")

    def of_lowest_tier(self, node: str) -> str:
        """The HyperNode of the lowest tier there is that contains the node, or none."""
        lowest = self.tiers[0]
        return next((n for n, h in self.table.items() if h.tier == lowest and node in h.members), "")

    def holder(self, node: str) -> str:
        """The lowest HyperNode that contains the node, the root if no other does."""
        holding = [(h.tier, name) for name, h in self.table.items() if node in h.members and name != ROOT]
        if holding:
            return min(holding)[1]
        return ROOT if node in self.session.nodes else ""

    def gradient(self, unit: Job | SubJob, start: str, purpose: str) -> list[list[str]]:
        """Domains to try for a job or sub-job, best group first; only the first plugin is asked (03 §7.2)."""
        for function in self.session.functions("gradient"):
            groups: list[list[str]] = function(unit, start, purpose)
            return groups
        return [[start]]
