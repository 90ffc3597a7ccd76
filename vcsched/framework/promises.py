"""Promises: room on a node that is free, or will be when the pods that are leaving it are gone.

A pod that was promised room carries the node's name as its nominated node. Until it is bound, pods that are
being deleted there count as gone, however long they take, so that nobody is evicted twice for it
(spec 04 §10, design-notes §7 row 5).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from vcsched.cache.nominations import promised_node
from vcsched.columns.space import PODS
from vcsched.framework.victims import has_room
from vcsched.model.status import RELEASING

if TYPE_CHECKING:
    from vcsched.framework.plugin import Ask
    from vcsched.framework.session import Session
    from vcsched.model.node import Node
    from vcsched.model.task import Task


def is_nominated(task: Task) -> bool:
    """Whether a pending task was promised a node, whatever became of that since."""
    return bool(promised_node(task))


def nominated_node(ssn: Session, task: Task) -> Node | None:
    """The node that a pending task was promised."""
    name = promised_node(task)
    return ssn.nodes.get(name) if name else None


@contextmanager
def without_leaving(ssn: Session, node: Node) -> Iterator[None]:
    """Let filters see the node as it will be when the pods that are being deleted are gone."""
    place = ssn.accounting.place
    leaving = [t for t in node.tasks.values() if t.status == RELEASING and not t.hidden]
    if ssn.compat.evict_unchecked:
        leaving = []
    for task in leaving:
        place(task, RELEASING, node, hidden=True)
    try:
        yield
    finally:
        for task in leaving:
            place(task, RELEASING, node, hidden=False)


def takes(ssn: Session, ask: Ask, node: Node) -> bool:
    """Whether the node will take the task without an eviction."""
    if not has_room(ssn, ask.task, node):
        return False
    if not ssn.pipeline.reasons_at(ask, node.row, room=False):
        return True
    with without_leaving(ssn, node):
        return not ssn.pipeline.reasons_at(ask, node.row, room=False)


def free_node(ssn: Session, ask: Ask) -> Node | None:
    """A node that will take the task without an eviction, within its queue's share: its nominated node first."""
    if ask.queue is None or not ssn.allocatable(ask.queue, ask.task):
        return None
    nominated = nominated_node(ssn, ask.task)
    if nominated is not None and takes(ssn, ask, nominated):
        return nominated
    choice = ssn.pipeline.choose(ask)
    if choice is not None:
        return _node_at(ssn, choice.row)
    nodes = ssn.node_table
    leaving = nodes.releasing[PODS, : nodes.n] > 0
    if not leaving.any():
        return None
    for row in ssn.pipeline.tolerable(ask, room=True, rows=np.flatnonzero(leaving)):
        node = _node_at(ssn, row)
        if node is not None and takes(ssn, ask, node):
            return node
    return None


def _node_at(ssn: Session, row: int) -> Node | None:
    return ssn.world.node_at[row]
