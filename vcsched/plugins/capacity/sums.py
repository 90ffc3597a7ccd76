"""What is held below each queue of a tree, kept while a session works (spec 05 §8.8, §9.2).

The queue table has the sums of a queue's own jobs. Here each queue also counts what the queues below it
hold. The sums are made when a session opens and then follow its operations, which cost one addition a level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vcsched.framework.plugin import EVICT, Ledger, Op
from vcsched.plugins.capacity.tree import Tree

if TYPE_CHECKING:
    from vcsched.columns.table import Cells, FloatArray, IntArray


def below(own: FloatArray, tree: Tree) -> FloatArray:
    """float64[C, rows]: `own` of each queue and of everything under it."""
    total = own.copy()
    for rows, parents in reversed(tree.levels):
        add_up(total, parents, total[:, rows])
    return total


def add_up(total: FloatArray, rows: IntArray, amounts: FloatArray) -> None:
    """Add `amounts[:, i]` to `total[:, rows[i]]`; a row may be named several times."""
    for column, added in zip(total, amounts, strict=True):
        column += np.bincount(rows, weights=added, minlength=len(column))


class Held(Ledger):
    """What queues are charged, with everything under them: `cells[column][row]`."""

    def __init__(self, charged: FloatArray, tree: Tree) -> None:
        self.amounts = below(charged, tree)
        self.cells: Cells = [memoryview(column) for column in self.amounts]
        self._paths = tree.paths

    def apply(self, op: Op, again: Any = None) -> float:
        """A task that is given room is charged, a victim is not any more."""
        sign = -1.0 if op.kind == EVICT else 1.0
        self._change(op, sign)
        return sign

    def undo(self, op: Op, token: float) -> None:
        self._change(op, -token)

    def _change(self, op: Op, sign: float) -> None:
        job = op.task.job
        if job is None or job.queue is None:
            return
        path = self._paths.get(job.queue.name, ())
        cells = self.cells
        for column, amount in op.task.request.items:
            amount *= sign
            column_cells = cells[column]
            for row in path:
                column_cells[row] += amount
