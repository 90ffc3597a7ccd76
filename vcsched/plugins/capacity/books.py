"""The books of one session: what each queue holds, may have and deserves, as single cells to ask for.

Made when a session opens, from limits that are kept as long as no queue changes and from the sums of the
queue table; what queues hold then follows every operation. Spec 05 §8.1, §8.8, §9.2.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from vcsched.columns.space import PODS
from vcsched.framework.plugin import Ledger
from vcsched.plugins.capacity.limits import Limits
from vcsched.plugins.capacity.sums import Held, below
from vcsched.plugins.capacity.tree import Tree

if TYPE_CHECKING:
    from vcsched.columns.table import Cells, FloatArray
    from vcsched.framework.session import Session
    from vcsched.model.task import Task


class Books:
    """`held`, `claims`, `most`, `deserved` and `guarantee` are cells [column][row]; a claim is what admitted
    jobs lack of their minimum, less what jobs hold beyond theirs. A queue includes the queues below it.

    `ways` has, for queues that may have jobs, the rows whose limits count: the queue's, then upwards.
    """

    def __init__(self, ssn: Session, tree: Tree, limits: Limits, tolerance: FloatArray) -> None:
        table, n = ssn.queue_table, ssn.queue_table.n
        self.tree = tree
        self.ways = tree.ways
        self.limits = limits
        self.tolerance = tolerance
        self.ledger: Ledger | None = None
        claims = table.inqueue[:, :n] - table.elastic[:, :n]
        if tree.levels:
            held = self.ledger = Held(table.charged[:, :n], tree)
            self.held: Cells = held.cells
            claims = below(claims, tree)
            at_open = shares(held.amounts, limits, tolerance).tolist()
            self._share_of_inner: dict[int, float] = {row: at_open[row] for row in tree.inner_rows}
        else:
            self.held = table.charged_cells
            self._share_of_inner = {}
        self.claims = _cells(claims)
        self.most = _cells(limits.most)
        self.deserved = _cells(limits.deserved)
        self.guarantee = _cells(limits.guarantee)
        self.named: list[list[bool]] = limits.named.tolist()
        self.nothing: list[bool] = limits.nothing.tolist()
        self.least: list[float] = tolerance.tolist()
        self._terms = list(zip(self.held, self.deserved, self.least, strict=True))

    # ------------------------------------------------------------------ shares

    def share(self, row: int) -> float:
        """How much of what it deserves a queue holds, in the resource where that is most; 1 if it deserves
        nothing. That of a queue with queues below it stands still while a session works."""
        at_open = self._share_of_inner.get(row)
        if at_open is not None:
            return at_open
        if self.nothing[row]:
            return 1.0
        share = 0.0
        for held, deserved, least in self._terms:
            due = deserved[row]
            if due >= least:
                part = held[row] / due
                if part > share:
                    share = part
        return share

    # ------------------------------------------------------------------ room

    def fits(self, path: Iterable[int], task: Task) -> bool:
        """Whether all these queues may hold one more such task."""
        for column, amount in task.request.items:
            if amount > 0 and column != PODS:
                held, most = self.held[column], self.most[column]
                for row in path:
                    if held[row] + amount > most[row]:
                        return False
        return True

    def copy_of(self, row: int) -> list[float]:
        """What a queue holds, to reckon with: one amount a column."""
        return [held[row] for held in self.held]


def _cells(amounts: FloatArray) -> Cells:
    return [memoryview(column) for column in np.ascontiguousarray(amounts)]


def shares(held: FloatArray, limits: Limits, tolerance: FloatArray) -> FloatArray:
    """float64[rows]: the share of every queue; see `Books.share`."""
    parts = np.zeros_like(held)
    np.divide(held, limits.deserved, out=parts, where=limits.deserved >= tolerance[:, None])
    most: FloatArray = np.where(limits.nothing, 1.0, parts.max(axis=0))
    return most
