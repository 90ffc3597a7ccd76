"""Compaction: rows of nodes that are gone are given back, between sessions.

Node rows are append-only, so that row order is first-seen order; where nodes come and go all day, tombstones
would outnumber the nodes some day. Whoever keeps rows over sessions looks at `picture.epoch` (design-notes
§2.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture

FEWEST = 64  # tombstones that are worth the trouble
SHARE = 0.25  # of all rows


def compact_if_due(picture: Picture) -> None:
    """Compact when a quarter of the rows are tombstones."""
    dead = picture.nodes.n - len(picture.nodes_by_name)
    if dead >= FEWEST and dead > SHARE * picture.nodes.n:
        compact(picture)


def compact(picture: Picture) -> None:
    """Number the rows of the living nodes from 0 on, in the same order. No session may be open."""
    living = [node for node in picture.node_at if node is not None]
    rows = np.array([node.row for node in living], dtype=np.intp)
    picture.nodes.keep_rows(rows)
    for column in (*picture.label_columns.values(), *picture.attribute_columns.values()):
        column.keep_rows(rows)
    for row, node in enumerate(living):
        node.row = row
    picture.node_at = list(living)
    picture.epoch += 1
    picture.changes += 1  # what is remembered about failures may name rows
    picture.counters.rows_renumbered()
