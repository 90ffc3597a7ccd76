"""What queues may have, deserve and are guaranteed, as columns (spec 05 §8.1, §9.3).

Alone, a queue may have what all guarantees leave of the cluster, and its own; in a tree, what the guarantees
of its siblings leave of its parent's limit. Both end at its capability. A resource that a capability does
not name is taken from the parent's, without limit if nobody names it; but a root that names only some
resources gives nothing of the others.

Amounts are float64[C, rows] by row of the queue table; rows without a queue hold anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vcsched.columns.space import MEMORY, PODS
from vcsched.model.queue import ROOT
from vcsched.plugins.capacity.sums import add_up
from vcsched.plugins.capacity.tree import Tree

if TYPE_CHECKING:
    from vcsched.columns.space import Space
    from vcsched.columns.table import BoolArray, FloatArray
    from vcsched.framework.session import Session
    from vcsched.model.queue import Queue


class Limits(NamedTuple):
    """`named` tells which resources `deserved` speaks of, be it to say 0; `nothing`: none of any but pods."""

    most: FloatArray
    deserved: FloatArray
    guarantee: FloatArray
    capability: FloatArray  # as inherited; infinite where nobody limits
    named: BoolArray  # bool[C, rows]
    nothing: BoolArray  # bool[rows]


def flat_limits(ssn: Session, queues: Iterable[Queue], tolerance: FloatArray) -> Limits:
    """Limits of queues that know nothing of each other but their guarantees."""
    table, n = ssn.queue_table, ssn.queue_table.n
    guarantee = table.guarantee[:, :n]
    capability = _without_empty(table.capability[:, :n])
    left = np.maximum(ssn.total - guarantee[:, table.alive[:n]].sum(axis=1), 0.0)
    most = np.minimum(left[:, None] + guarantee, capability)
    # a deserved resource that the cluster does not have is not cut to the nothing there is of it
    absent = (left == 0)[:, None] & (guarantee == 0)
    absent[: MEMORY + 1] = False
    capped = np.where(absent, table.deserved[:, :n], np.minimum(table.deserved[:, :n], most))
    deserved = np.maximum(capped, guarantee)
    return _limits(most, deserved, guarantee, capability, _named(ssn.space, queues, n), tolerance)


def tree_limits(ssn: Session, tree: Tree, queues: Iterable[Queue], tolerance: FloatArray) -> Limits:
    """Limits of a tree, from the root down. Faulty queues keep what their spec says and are never asked about."""
    table, n = ssn.queue_table, ssn.queue_table.n
    guarantee = table.guarantee[:, :n].copy()
    deserved = np.maximum(table.deserved[:, :n], guarantee)
    capability = _without_empty(table.capability[:, :n])
    named = _named(ssn.space, queues, n)
    most = capability.copy()
    if ROOT in tree.paths:
        root = tree.paths[ROOT][0]
        top = tree.levels[0][0] if tree.levels else np.zeros(0, dtype=np.int64)
        # whatever its spec says, the root guarantees and deserves what the queues below it do
        guarantee[:, root] = guarantee[:, top].sum(axis=1)
        deserved[:, root] = deserved[:, top].sum(axis=1)
        named[:, root] = named[:, top].any(axis=1)
        _open_root(ssn.total, capability, most, root, tolerance)
    for rows, parents in tree.levels:
        promised = np.zeros_like(guarantee)
        add_up(promised, parents, guarantee[:, rows])
        own = capability[:, rows]
        capability[:, rows] = np.where(own == np.inf, capability[:, parents], own)
        left = np.maximum(most[:, parents] - promised[:, parents], 0.0)
        most[:, rows] = np.minimum(left + guarantee[:, rows], capability[:, rows])
    return _limits(most, deserved, guarantee, capability, named, tolerance)


def _open_root(total: FloatArray, capability: FloatArray, most: FloatArray, root: int, tolerance: FloatArray) -> None:
    """Without a capability the root has no limit but what there is; with one, others than cpu and memory must
    be named in it."""
    given = capability[:, root]
    states_nothing = (given == np.inf) | (given < tolerance)
    states_nothing[PODS] = True
    if states_nothing.all():
        capability[:, root] = np.inf
        most[:, root] = np.where(total > 0, np.inf, 0.0)
        most[: MEMORY + 1, root] = np.inf
    else:
        most[:, root] = np.where(given == np.inf, 0.0, given)
        most[: MEMORY + 1, root] = given[: MEMORY + 1]


def _without_empty(capability: FloatArray) -> FloatArray:
    """A copy in which a capability of no cpu or memory is none."""
    capability = capability.copy()
    always = capability[: MEMORY + 1]
    always[always <= 0] = np.inf
    return capability


def _named(space: Space, queues: Iterable[Queue], n: int) -> BoolArray:
    """bool[C, n]: the resources that a queue's deserved amount or guarantee speaks of."""
    named = np.zeros((space.width, n), dtype=np.bool_)
    for queue in queues:
        spec = queue.obj.spec
        for name in (*spec.deserved, *spec.guarantee.resource):
            column = space.index.get(name)
            if column is not None:
                named[column, queue.row] = True
    return named


def _limits(
    most: FloatArray,
    deserved: FloatArray,
    guarantee: FloatArray,
    capability: FloatArray,
    named: BoolArray,
    tolerance: FloatArray,
) -> Limits:
    some = deserved >= tolerance[:, None]
    named[: MEMORY + 1] = some[: MEMORY + 1]  # no cpu is as good as none said
    some[PODS] = False
    nothing: BoolArray = np.logical_not(some.any(axis=0))
    return Limits(most, deserved, guarantee, capability, named, nothing)
