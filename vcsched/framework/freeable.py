"""What evictions could free on each node at most, from one pass over the tasks (design-notes §2.12).

A job that no eviction can help would have all nodes looked at, victim by victim. The bound takes the nodes out
that could not make room even if everybody went. It stays one whatever a session tries: who has been evicted in
it counts twice, as room and as somebody who could go, since an eviction may be taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from vcsched.framework.shapestate import EPSILON
from vcsched.model.status import EVICTABLE

if TYPE_CHECKING:
    from vcsched.columns.table import FloatArray, IntArray
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.task import Request


LOOK = 16
"""Nodes looked at before the bound is worked out; most often one of them does."""


class Freeable:
    """`amounts` is float64[C, n]: what the evictable tasks of some jobs hold on each node."""

    def __init__(self, ssn: Session, jobs: Iterable[Job]) -> None:
        self._nodes = ssn.node_table
        n = self._n = ssn.node_table.n
        rows_of: dict[Request, list[int]] = {}
        for job in jobs:
            for task in job.tasks.values():
                if task.node is not None and task.preemptable and (task.status in EVICTABLE or task.hidden):
                    rows_of.setdefault(task.request, []).append(task.node.row)
        self.amounts: FloatArray = np.zeros((ssn.space.width, n))
        for request, rows in rows_of.items():
            counts = np.bincount(rows, minlength=n)
            for column, amount in request.items:
                self.amounts[column] += amount * counts

    def could_fit(self, request: Request, rows: IntArray) -> IntArray:
        """Those of the rows where the request would fit if all these tasks went."""
        fits = np.ones(len(rows), dtype=np.bool_)
        for column, amount in request.items:
            fits &= self._nodes.future[column, rows] + self.amounts[column, rows] > amount - EPSILON
        return rows[fits]


def worth_visiting(request: Request, rows: IntArray, bound: Callable[[], Freeable]) -> Iterator[int]:
    """The rows in their order, without those that the bound excludes once some have been visited in vain."""
    yield from (int(row) for row in rows[:LOOK])
    if len(rows) > LOOK:
        yield from (int(row) for row in bound().could_fit(request, rows[LOOK:]))
