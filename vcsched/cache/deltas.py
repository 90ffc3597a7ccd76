"""Deltas: what a task adds to a row of a table, as one vector for each kind of move and request.

A placement changes thirty cells of three tables. One at a time they cost more than all the rest of a placement;
as one addition a row half a microsecond (`columns.table`). Amounts are integral, so sums stay exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vcsched.columns.table import FloatArray
from vcsched.model.task import Request

if TYPE_CHECKING:
    from vcsched.columns.table import Table

LIMIT = 2_000  # requests that are remembered; where every pod asks for something else, vectors are made anew


class Deltas(dict[Request, FloatArray]):
    """`deltas[request]` is added to a row of the table. `signs`: how often the request counts in which column of
    amounts; `counts_pods`: whether the pod counts in the numbers that Kubernetes' scorers read."""

    def __init__(self, table: Table, signs: Mapping[str, int], *, counts_pods: bool = False) -> None:
        super().__init__()
        self._table = table
        self._signs = signs
        self._counts_pods = counts_pods
        table.space.on_growth(lambda width: self.clear())

    def __missing__(self, request: Request) -> FloatArray:
        if len(self) >= LIMIT:
            self.clear()
        amounts = {
            name: {column: sign * amount for column, amount in request.items} for name, sign in self._signs.items()
        }
        numbers: dict[str, float] = {}
        if self._counts_pods:
            numbers = {
                "view_pods": 1.0,
                "view_nonzero_cpu": request.nonzero_cpu,
                "view_nonzero_memory": request.nonzero_memory,
            }
        vector = self[request] = self._table.vector(amounts, numbers)
        return vector
