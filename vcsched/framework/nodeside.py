"""The node side of shapes: what filters and scores say that read the node object and nothing that pods change.

Taints, labels, cordon and images do not depend on how much a pod asks for. So shapes that agree in what is
read of their form (see `plugin.shared_by`) share one node side, and a shape that differs only in its request
finds this half of its answers made. It is kept while some shape uses it.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from vcsched.columns.table import BoolArray, cells
from vcsched.framework.keptcolumns import FilterColumn, ScoreColumn
from vcsched.framework.plugin import Ask, Nodes
from vcsched.framework.points import Filter, Score

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture


class NodeSide:
    """Kept columns of filters and scores, in their order, and what follows from all of them."""

    def __init__(self, picture: Picture, filters: list[Filter], scores: list[tuple[Score, bool]]) -> None:
        self._picture = picture
        self.filters = [FilterColumn(rule) for rule in filters]
        self.scores = [ScoreColumn(rule, batch) for rule, batch in scores]
        self.versioned = [column for column in self.scores if column.score.version is not None]
        self.changed = 0  # counts changes
        self.refused: BoolArray = np.zeros(0, dtype=np.bool_)  # no node, or refused by a filter
        self.refused_cells: memoryview[bool] = cells(self.refused)
        self.refuses = False  # some row is refused
        self.is_flat = False  # every score adds the same everywhere
        self._epoch = self._at = -1

    def refresh(self, ask: Ask) -> None:
        """Bring the columns up to date."""
        picture = self._picture
        if len(self.refused) != picture.nodes.n or self._epoch != picture.epoch:
            self._ask_all(ask)
        elif self._at != picture.node_log.position:
            rows = picture.node_log.since(self._at, max(64, picture.nodes.n // 8))
            if rows is None:
                self._ask_all(ask)
            else:
                self._repair(ask, rows)
        stale = [column for column in self.versioned if column.is_stale(ask)]
        if stale:
            nodes, alive = self._everything()
            for column in stale:
                column.compute(ask, nodes, alive)
            self._fold()

    def _everything(self) -> tuple[Nodes, BoolArray]:
        picture, n = self._picture, self._picture.nodes.n
        return Nodes(picture, slice(0, n), n), picture.nodes.alive[:n]

    def _ask_all(self, ask: Ask) -> None:
        nodes, alive = self._everything()
        for column in self.filters:
            column.compute(ask, nodes)
        for score in self.scores:
            score.compute(ask, nodes, alive)
        self._fold()

    def _repair(self, ask: Ask, changed: list[int]) -> None:
        """The objects of these nodes changed."""
        picture, rows = self._picture, np.array(changed, dtype=np.int64)
        for column in self.filters:
            column.repair(ask, picture, rows)
        for score in self.scores:
            score.repair(ask, picture, rows)
        self._fold()

    def _fold(self) -> None:
        picture = self._picture
        refused: BoolArray = ~picture.nodes.alive[: picture.nodes.n]
        for column in self.filters:
            refused |= column.codes != 0
        self.refused, self.refused_cells = refused, cells(refused)
        self.refuses = bool(refused.any())
        self.is_flat = all(score.constant is not None for score in self.scores)
        self._at, self._epoch = picture.node_log.position, picture.epoch
        self.changed += 1


def node_side(picture: Picture, ask: Ask, filters: list[Filter], scores: list[tuple[Score, bool]]) -> NodeSide:
    """The node side of a shape, up to date; `filters` and `scores` are those that read the node and apply."""
    kept = _kept.setdefault(picture, WeakValueDictionary())
    name = (tuple((f, _part(ask, f)) for f in filters), tuple((*pair, _part(ask, pair[0])) for pair in scores))
    side = kept.get(name)
    if side is None:
        side = kept[name] = NodeSide(picture, filters, scores)
    side.refresh(ask)
    return side


def _part(ask: Ask, rule: Filter | Score) -> Hashable:
    """What a function reads of the pod: a part of the form, or the shape if it does not say."""
    part = getattr(rule.vector or rule.scalar, "shared_by", None)
    found: Hashable = ask.shape if part is None else ask.form.compiled(part)
    return found


_kept: WeakKeyDictionary[Picture, WeakValueDictionary[Hashable, NodeSide]] = WeakKeyDictionary()
