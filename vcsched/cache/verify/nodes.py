"""Nodes: rows, sums of both accountings, and attribute columns, from the objects (design-notes §4, 1 and 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.cache.accounting import LEAVES, OCCUPIES, ON_NODE, PROMISED
from vcsched.cache.handlers.nodes import capacity_of
from vcsched.cache.verify.differences import Recomputed, same, same_objects

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.model.node import Node
    from vcsched.model.task import Task

_SUMS = {OCCUPIES: ("used",), LEAVES: ("used", "releasing"), PROMISED: ("pipelined",)}


def verify_nodes(picture: Picture, *, inside_session: bool) -> None:
    """Every column of the node table; tombstones must be zero."""
    table = picture.nodes
    names = {node.row: name for name, node in picture.nodes_by_name.items()}
    same("node table", "rows given out", max(names, default=-1) < table.n, True)
    same("node table", "one row a node", len(names), len(picture.nodes_by_name))
    at = {row: node for row, node in enumerate(picture.node_at) if node is not None}
    same("node table", "node_at", at, {node.row: node for node in picture.nodes_by_name.values()})

    placed: dict[str, dict[str, Task]] = {name: {} for name in picture.nodes_by_name}
    for uid, task in picture.tasks.items():
        if task.node is not None:
            placed[task.node.name][uid] = task
    fresh = Recomputed(table, lambda row: f"node {names.get(row, f'of row {row}, which is gone')}")
    for node in picture.nodes_by_name.values():
        same_objects(f"node {node.name}", "tasks", node.tasks, placed[node.name])
        _recompute(picture, node, fresh)
    fresh["idle"][:] = fresh["alloc"] - fresh["used"]
    fresh["future"][:] = fresh["idle"] + fresh["releasing"] - fresh["pipelined"]
    fresh.compare()
    if not inside_session:
        same("node table", "promised outside a session", bool(fresh["pipelined"].any()), False)
    _verify_attributes(picture)


def _recompute(picture: Picture, node: Node, fresh: Recomputed) -> None:
    index, row = picture.space.index, node.row
    with_oversubscription, plain = capacity_of(node.obj)
    fresh.add("alloc", row, [(index[name], amount) for name, amount in with_oversubscription.items()])
    fresh.add("view_alloc", row, [(index[name], amount) for name, amount in plain.items()])
    fresh["alive"][row] = True
    for task in node.tasks.values():
        for name in _SUMS.get(ON_NODE[task.status], ()):
            fresh.add(name, row, task.request.items)
        if not task.hidden:
            fresh.add("view_used", row, task.request.items)
            fresh["view_pods"][row] += 1
            fresh["view_nonzero_cpu"][row] += task.request.nonzero_cpu
            fresh["view_nonzero_memory"][row] += task.request.nonzero_memory


def _verify_attributes(picture: Picture) -> None:
    for node in picture.nodes_by_name.values():
        for key, column in picture.label_columns.items():
            same(f"node {node.name}", f"label {key}", column.values[column.ids[node.row]], node.labels.get(key))
        for read, attributes in picture.attribute_columns.items():
            kept = attributes.values[attributes.ids[node.row]]
            same(f"node {node.name}", f"attribute {read.__name__}", kept, read(node))
