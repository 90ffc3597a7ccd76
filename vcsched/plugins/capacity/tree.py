"""The tree of queues: who stands under whom, and which queues stand nowhere (spec 05 §9.1).

Every queue has a parent, by name, or the root where none is named. A queue whose parent does not exist, or
that is its own ancestor, cannot be reckoned with: it and everything below it are faulty, with a sentence
each, while the rest of the tree works on (design-notes §7 row 16). Knows nothing of amounts.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from vcsched.columns.table import IntArray
from vcsched.model.queue import ROOT, Queue

Path = tuple[int, ...]


class Tree:
    """Queues as rows of the queue table. Faulty queues are in `faults` only.

    `paths` has the rows from the root to the queue, by name; in a flat tree each queue stands alone. `ways`
    has the same the other way round, for queues without children: only they may have jobs.
    """

    def __init__(self) -> None:
        self.paths: dict[str, Path] = {}
        self.ways: dict[str, Path] = {}
        self.faults: dict[str, str] = {}  # queue -> why it stands nowhere
        self.inner: dict[str, list[str]] = {}  # queue with children -> their names
        self.inner_rows: set[int] = set()
        self.name_of: dict[int, str] = {}
        self.levels: list[tuple[IntArray, IntArray]] = []  # from below the root down: (rows, their parents' rows)

    def ancestor(self, queue: Queue, level: int) -> int | None:
        """The row of the ancestor that is `level` steps up (1: the parent), or None if there is none."""
        path = self.paths[queue.name]
        return path[-1 - level] if len(path) > level else None


def flat(queues: Mapping[str, Queue]) -> Tree:
    """No tree: every queue answers for itself."""
    tree = Tree()
    tree.paths = {queue.name: (queue.row,) for queue in queues.values()}
    tree.ways = dict(tree.paths)
    tree.name_of = {queue.row: queue.name for queue in queues.values()}
    return tree


def grow(queues: Mapping[str, Queue]) -> Tree:
    """The tree that `spec.parent` of the queues describes."""
    tree = Tree()
    tree.name_of = {queue.row: queue.name for queue in queues.values()}
    if ROOT in queues:
        tree.paths[ROOT] = (queues[ROOT].row,)
    for queue in queues.values():
        _place(tree, queues, queue)
    by_depth: list[list[int]] = []
    for name, path in tree.paths.items():
        depth = len(path) - 1
        if depth:
            tree.inner.setdefault(tree.name_of[path[-2]], []).append(name)
            tree.inner_rows.add(path[-2])
            while len(by_depth) < depth:
                by_depth.append([])
            by_depth[depth - 1].append(path[-1])
    tree.ways = {name: path[::-1] for name, path in tree.paths.items() if name not in tree.inner}
    parent = {path[-1]: path[-2] for path in tree.paths.values() if len(path) > 1}
    tree.levels = [(np.array(rows), np.array([parent[row] for row in rows])) for rows in by_depth]
    return tree


def _place(tree: Tree, queues: Mapping[str, Queue], queue: Queue) -> None:
    """Go up from a queue to one whose place is known, and place everything on the way."""
    way: dict[str, Queue] = {}
    at, fault = queue, ""
    while at.name not in tree.paths and at.name not in tree.faults:
        if at.name in way:
            names = list(way)
            fault = _loop(names[names.index(at.name) :])
            break
        way[at.name] = at
        parent = parent_of(at)
        if parent not in queues:
            fault = f"parent {parent} of queue {at.name} does not exist; create it or change spec.parent"
            break
        at = queues[parent]
    fault = fault or tree.faults.get(at.name, "")
    path = () if fault else tree.paths[at.name]
    for below in reversed(way.values()):
        if fault:
            tree.faults[below.name] = fault
        else:
            path = (*path, below.row)
            tree.paths[below.name] = path


def _loop(names: list[str]) -> str:
    if len(names) == 1:
        return f"queue {names[0]} is its own parent; change its spec.parent"
    ring = " → ".join([*names, names[0]])
    return f"queues are each other's parents: {ring}; change spec.parent of one of them"


def parent_of(queue: Queue) -> str:
    """The name of the parent; the root where none is named."""
    return queue.obj.spec.parent or ROOT
