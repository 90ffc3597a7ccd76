"""Nodes: rows come, change and go (spec 02 §10.4, 01 §5).

Row order is first-seen order; a node that comes back goes last and is refilled from all known tasks.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from vcsched.cache.handlers import pods
from vcsched.columns.space import MOST_ASKED_FOR
from vcsched.kube.keys import OVERSUBSCRIPTION_CPU, OVERSUBSCRIPTION_MEMORY
from vcsched.kube.link import Reference
from vcsched.model import resources
from vcsched.model.node import Node
from vcsched.model.quantity import MOST, QuantityError

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.kube.objects import Node as NodeObject


def upsert(cache: SchedulerCache, obj: NodeObject) -> None:
    """A node was added or changed. One that no longer matches --node-selector leaves."""
    name = obj.metadata.name
    node = cache.picture.nodes_by_name.get(name)
    if not _selected(cache, obj):
        if node is not None:
            _remove(cache, node)
        return
    if node is not None and node.obj.metadata.uid != obj.metadata.uid:
        _remove(cache, node)
        node = None
    try:
        capacity = capacity_of(obj)
    except QuantityError as error:
        about = Reference("Node", "", name, obj.metadata.uid)
        cache.refuse_object(about, f"status.allocatable: {error}; the node is left out until it changes")
        if node is not None:
            _remove(cache, node)
        return
    known = cache.picture.space.width
    if node is None:
        _add(cache, obj, capacity)
    else:
        labels_changed = node.labels != obj.metadata.labels or node.obj.spec.taints != obj.spec.taints
        node.obj = obj
        cache.accounting.set_capacity(node, *capacity)
        cache.picture.read_node(node)
        if labels_changed:
            cache.picture.counters.node_changed(node.row)
    if max(known, MOST_ASKED_FOR) < cache.picture.space.width:
        pods.resources_came(cache)


def delete(cache: SchedulerCache, key: str, uid: str) -> None:
    node = cache.picture.nodes_by_name.get(key)
    if node is not None and (not uid or node.obj.metadata.uid == uid):
        _remove(cache, node)


def _add(cache: SchedulerCache, obj: NodeObject, capacity: tuple[dict[str, float], dict[str, float]]) -> None:
    picture = cache.picture
    for name in capacity[0]:
        picture.space.column(name)
    node = Node(obj, picture.nodes.new_row())
    picture.new_node_row(node)
    cache.accounting.set_capacity(node, *capacity)
    picture.counters.node_changed(node.row)
    for task in picture.tasks_without_node.pop(node.name, {}).values():
        cache.accounting.place(task, task.status, node)


def _remove(cache: SchedulerCache, node: Node) -> None:
    picture = cache.picture
    for task in list(node.tasks.values()):
        cache.accounting.place(task, task.status, None)
        if task.node_name == node.name:
            picture.tasks_without_node.setdefault(node.name, {})[task.uid] = task
    picture.counters.node_removed(node.row)
    cache.accounting.drop_node(node)
    picture.node_at[node.row] = None
    del picture.nodes_by_name[node.name]


def _selected(cache: SchedulerCache, obj: NodeObject) -> bool:
    wanted = cache.options.node_selector
    return not wanted or any(obj.metadata.labels.get(key) == value for key, value in wanted)


def capacity_of(obj: NodeObject) -> tuple[dict[str, float], dict[str, float]]:
    """(allocatable with oversubscription, plain allocatable), by resource name; as much as can be counted.
    Raises `QuantityError`."""
    plain = resources.amounts(obj.status.allocatable)
    more = oversubscription_of(obj)
    with_more = {**plain, **{name: plain.get(name, 0.0) + extra for name, extra in more.items()}}
    return _countable(with_more), _countable(plain)


def _countable(amounts: resources.Amounts) -> resources.Amounts:
    return {name: max(-MOST, min(MOST, amount)) for name, amount in amounts.items()}


def oversubscription_of(obj: NodeObject) -> resources.Amounts:
    """What a node gives beyond its allocatable amounts; both names stand in it."""
    annotations = obj.metadata.annotations
    return {
        resources.CPU: _amount(annotations.get(OVERSUBSCRIPTION_CPU)),
        resources.MEMORY: _amount(annotations.get(OVERSUBSCRIPTION_MEMORY)),
    }


def _amount(text: str | None) -> float:
    """An oversubscription annotation; whole units, so that sums stay exact. Nonsense counts as nothing."""
    try:
        amount = float(text or 0)
    except ValueError:
        return 0.0
    return float(math.trunc(amount)) if math.isfinite(amount) and amount > 0 else 0.0
