"""Hostile objects: real ones with some of their values replaced by nonsense, as the API server might send them."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from tests.generators.story import CLASSES, GANGS, GROUP_KINDS, NODE_KINDS, NODES, POD_KINDS, QUEUE_KINDS, QUEUES
from vcsched.simulator.world import World

Obj = dict[str, Any]

NONSENSE: list[Any] = [
    None, True, 0, -1, 1, 2**31, -(2**31), 2**63, 10**40, 1.5, float("1e300"),
    "", " ", "abc", "-1", "9E", "1e400", "999999999999999999999999999", "NaN", "1Ki", "\u0000", "ü" * 300,
    [], [None], {}, {"": ""}, {"a": None}, [{}], [[]], {"matchLabels": {"a": "b"}},
    "In", "Exists", "DoesNotExist", "Gt", "Sideways", "NoSchedule", "2026-13-45T99:99:99Z", "0001-01-01T00:00:00Z",
]  # fmt: skip
KEYS = [
    "nodeSelector", "affinity", "tolerations", "topologySpreadConstraints", "schedulingGates", "overhead", "priority",
    "initContainers", "resources", "volumes", "resourceClaims", "schedulerName", "nodeName", "minTaskMember",
    "subGroupPolicy", "networkTopology", "minResources", "minMember", "queue", "capability", "guarantee", "parent",
    "weight", "taints", "labels", "annotations", "ownerReferences", "creationTimestamp", "deletionTimestamp",
    "allocatable", "images", "phase", "conditions", "containerStatuses", "matchExpressions", "operator", "values",
    "maxSkew", "topologyKey", "whenUnsatisfiable", "value", "globalDefault", "uid", "resourceVersion",
]  # fmt: skip
ANNOTATIONS = [
    "scheduling.k8s.io/group-name", "volcano.sh/task-spec", "volcano.sh/task-priority", "volcano.sh/preemptable",
    "volcano.sh/sla-waiting-time", "scheduling.volcano.sh/queue-name", "volcano.sh/oversubscription-cpu",
    "volcano.sh/hierarchy", "volcano.sh/hierarchy-weights",
]  # fmt: skip

mutation = st.tuples(st.integers(0, 10**6), st.sampled_from(NONSENSE), st.sampled_from(KEYS))
objects = st.tuples(st.integers(0, 5), st.integers(0, 30), st.integers(0, 100), st.lists(mutation, max_size=4))
"""(which kind, which name, which variant, what is done to it)."""


def hostile(make: World, which: int, name: int, kind: int, mutations: list[tuple[int, Any, str]]) -> Obj:
    """An object of one of the kinds that a story knows, changed."""
    builders = [_node, _pod, _pod, _group, _queue, _class]
    obj = copy.deepcopy(builders[which % len(builders)](make, name, kind))
    kept = obj["metadata"]["name"], obj["metadata"].get("namespace")
    for place, value, key in mutations:
        _mutate(obj, place, copy.deepcopy(value), key)
    meta = obj["metadata"] if isinstance(obj.get("metadata"), dict) else {}
    meta["name"] = kept[0]  # without a name there is no object
    if kept[1]:
        meta["namespace"] = kept[1]
    obj["metadata"] = meta
    return obj


def _mutate(obj: Obj, place: int, value: Any, key: str) -> None:
    """Replace a value somewhere in the tree, take it away, or add a key where it may mean something."""
    spots: list[tuple[Any, Any]] = []
    _collect(obj, spots)
    if not spots:
        return
    parent, at = spots[place % len(spots)]
    if place % 5 == 0 and isinstance(parent, dict):
        parent[key] = value
    elif place % 5 == 1 and isinstance(parent, dict):
        del parent[at]
    elif place % 5 == 2 and isinstance(obj.get("metadata"), dict):
        notes = obj["metadata"].setdefault("annotations", {})
        if isinstance(notes, dict):
            notes[ANNOTATIONS[place % len(ANNOTATIONS)]] = value if isinstance(value, str) else str(value)
    else:
        parent[at] = value


def _collect(value: Any, spots: list[tuple[Any, Any]]) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        if value is not None and key not in ("kind", "apiVersion"):
            spots.append((value, key))
        _collect(child, spots)


def _node(make: World, name: int, kind: int) -> Obj:
    return make.node(NODES[name % len(NODES)], **copy.deepcopy(NODE_KINDS[kind % len(NODE_KINDS)]))


def _pod(make: World, name: int, kind: int) -> Obj:
    gang = GANGS[name % len(GANGS)]
    return make.pod(f"{gang}-{name % 4}", gang=gang, **copy.deepcopy(POD_KINDS[kind % len(POD_KINDS)]))


def _group(make: World, name: int, kind: int) -> Obj:
    options = copy.deepcopy(GROUP_KINDS[kind % len(GROUP_KINDS)])
    return make.gang(GANGS[name % len(GANGS)], pods=0, **options).group


def _queue(make: World, name: int, kind: int) -> Obj:
    return make.queue(QUEUES[name % len(QUEUES)], **copy.deepcopy(QUEUE_KINDS[kind % len(QUEUE_KINDS)]))


def _class(make: World, name: int, kind: int) -> Obj:
    return make.priority_class(CLASSES[name % len(CLASSES)], kind)
