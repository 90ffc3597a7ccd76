"""A stage for placement plugins: the real cache and pipeline, tasks moved by hand, and the oracle beside it.

stage = Stage()
stage.add(node, pod, …)
stage.move("ns1/a", "n1")
assert stage.reasons("ns1/b") == stage.expected_reasons("ns1/b")
"""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from tests.oracle.node import Node as OracleNode
from tests.oracle.plugins.nodeorder import NodeOrder as OracleNodeOrder
from tests.oracle.plugins.predicates import Predicates as OraclePredicates
from tests.oracle.task import Task as OracleTask
from vcsched.cache.cache import SchedulerCache
from vcsched.framework.arguments import Arguments
from vcsched.framework.pipeline import Pipeline
from vcsched.framework.plugin import Plugin
from vcsched.framework.points import Opening, Points
from vcsched.kube.link import Upsert
from vcsched.kube.objects import KINDS, decode
from vcsched.model.status import ALLOCATED, PENDING, RELEASING, RUNNING
from vcsched.model.task import Task
from vcsched.plugins.nodeorder import podaffinity, podspread
from vcsched.plugins.predicates import Predicates

Obj = dict[str, Any]
Reasons = list[tuple[int, str]]

_KIND = {resource.kind: kind for kind, resource in KINDS.items()}
AFFINITY_WEIGHT, SPREAD_WEIGHT = 2, 3


class PlainSession:
    """What the oracle's plugins read of a session; counts are live, nothing is fixed when it opens."""

    def __init__(self) -> None:
        self.nodes: dict[str, OracleNode] = {}
        self.view: dict[str, list[OracleTask]] = {}

    @property
    def order(self) -> list[str]:
        return list(self.nodes)

    nodes_with_affinity = nodes_with_anti_affinity = order
    mended = True


class Scores(Plugin):
    """The two scorers that read counters, alone."""

    name = "scores"

    def open(self, ssn: Any) -> None:
        podaffinity.register(self, ssn, AFFINITY_WEIGHT)
        podspread.register(self, ssn, SPREAD_WEIGHT)


class Stage(Points):
    """All points, with `predicates` and the counting scorers registered; `world` is the picture."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__()
        self.cache = SchedulerCache()
        self.world = self.cache.picture
        self.pods: dict[str, Obj] = {}
        self.node_objects: dict[str, Obj] = {}
        self.where: dict[str, str] = {}  # pod key -> node that it counts on
        self.pipeline = Pipeline(self.world, self.cache.shapes, random.Random(0))
        self.predicates = Predicates(Arguments(arguments))
        self._plugins: tuple[Plugin, ...] = (self.predicates, Scores(Arguments()))
        self.open_plugins()

    def open_plugins(self) -> None:
        """A session begins."""
        for plugin in self._plugins:
            self.registry.opening = Opening(plugin.name, 0, lambda switch: True)
            plugin.open(self)  # type: ignore[arg-type]
        self.pipeline.begin(self)

    # ---------------------------------------------------------------- the situation

    def add(self, *objects: Obj) -> None:
        """Objects arrive, or arrive changed."""
        for obj in objects:
            meta = obj["metadata"]
            if obj["kind"] == "Pod":
                key = f"{meta['namespace']}/{meta['name']}"
                meta.setdefault("uid", key)
                self.pods[key] = obj
                if obj["spec"].get("nodeName"):
                    self.where.setdefault(key, obj["spec"]["nodeName"])
            elif obj["kind"] == "Node":
                meta.setdefault("uid", meta["name"])
                self.node_objects[meta["name"]] = obj
            self.cache.link.put(Upsert(decode(_KIND[obj["kind"]], json.dumps(obj).encode())))
        self.cache.drain()

    def task(self, key: str) -> Task:
        return self.world.tasks[self.pods[key]["metadata"]["uid"]]

    def move(self, key: str, node: str) -> None:
        """Allocate a waiting pod to a node, or take it off again (node "")."""
        task = self.task(key)
        if node:
            self.cache.accounting.place(task, ALLOCATED, self.world.nodes_by_name[node])
            self.where[key] = node
        else:
            self.cache.accounting.place(task, PENDING, None)
            self.where.pop(key, None)

    def evict(self, key: str, *, undo: bool = False) -> None:
        """Evict a running pod in this session, or take that back."""
        task = self.task(key)
        status = RUNNING if undo else RELEASING
        self.cache.accounting.place(task, status, task.node, hidden=not undo)
        if undo:
            self.where[key] = task.node.name  # type: ignore[union-attr]
        else:
            self.where.pop(key, None)

    # ---------------------------------------------------------------- what ours says

    def problem(self, key: str) -> str:
        """What the pre-predicate says, or ""."""
        fit = self.pre_predicate(self.task(key))
        return "" if fit is None else fit.reason

    def reasons(self, key: str) -> dict[str, Reasons]:
        """Node -> what is wrong with it; all nodes, in order."""
        ask = self.pipeline.ask(self.task(key))
        return {
            name: self.pipeline.reasons_at(ask, node.row, room=False) for name, node in self.world.nodes_by_name.items()
        }

    def scores(self, key: str, *candidates: str) -> dict[str, float]:
        """Scores of the candidates (default: all nodes) among each other."""
        names = candidates or tuple(self.world.nodes_by_name)
        ask = self.pipeline.ask(self.task(key))
        self.pipeline.state(ask)
        rows = np.array([self.world.nodes_by_name[name].row for name in names], dtype=np.int64)
        return dict(zip(names, self.pipeline.scores(ask, rows).tolist(), strict=True))

    # ---------------------------------------------------------------- what the oracle says

    def plain(self) -> PlainSession:
        session = PlainSession()
        for number, (name, obj) in enumerate(self.node_objects.items()):
            session.nodes[name] = OracleNode(obj, number)
            session.view[name] = [OracleTask(self.pods[key], 0) for key, place in self.where.items() if place == name]
        return session

    def expected_reasons(self, key: str) -> dict[str, Reasons]:
        session = self.plain()
        plugin = OraclePredicates(session, {})  # type: ignore[arg-type]
        plugin.open()
        task = OracleTask(self.pods[key], 0)
        plugin.pre_predicate(task)
        return {name: plugin.predicate(task, node) for name, node in session.nodes.items()}

    def expected_scores(self, key: str, *candidates: str) -> dict[str, float]:
        session = self.plain()
        plugin = OracleNodeOrder(session, {})  # type: ignore[arg-type]
        plugin.weights = dict.fromkeys(
            ("leastrequested", "mostrequested", "balancedresource", "nodeaffinity", "tainttoleration"), 0
        ) | {"podaffinity": AFFINITY_WEIGHT, "podtopologyspread": SPREAD_WEIGHT}
        nodes = [session.nodes[name] for name in candidates or session.order]
        return plugin.batch_node_order(OracleTask(self.pods[key], 0), nodes)


# -------------------------------------------------------------------- objects


def node(name: str, *, pods: int = 10, unschedulable: bool = False, taints: Any = (), **labels: str) -> Obj:
    """A node; every one has the label `host` with its name."""
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": {"host": name, **labels}},
        "spec": {"unschedulable": unschedulable, "taints": list(taints)},
        "status": {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": str(pods)}},
    }


def pod(name: str, *, namespace: str = "ns1", on: str = "", labels: dict[str, str] | None = None, **spec: Any) -> Obj:
    """A pod; `on` a node it runs, else it waits."""
    return {
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": labels or {}},
        "spec": {
            "schedulerName": "volcano",
            "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}],
            **spec,
            **({"nodeName": on} if on else {}),
        },
        "status": {"phase": "Running" if on else "Pending"},
    }


def term(key: str, labels: dict[str, str] | None, **more: Any) -> Obj:
    """A pod affinity term; `labels` None: no selector."""
    return {
        "topologyKey": key,
        **({} if labels is None else {"labelSelector": {"matchLabels": labels}}),
        **more,
    }


def affinity(*required: Obj, preferred: Any = (), anti: bool = False) -> Obj:
    """`spec.affinity` with terms of one kind; `preferred` are (weight, term) pairs."""
    return {
        "podAntiAffinity" if anti else "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": list(required),
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": weight, "podAffinityTerm": each} for weight, each in preferred
            ],
        }
    }


def spread(key: str, labels: dict[str, str] | None, *, skew: int = 1, hard: bool = True, **more: Any) -> Obj:
    """A topology spread constraint."""
    return {
        "topologyKey": key,
        "maxSkew": skew,
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
        **({} if labels is None else {"labelSelector": {"matchLabels": labels}}),
        **more,
    }
