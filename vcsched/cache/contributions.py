"""What a job adds to the reserved sums of its queue.

Four sums of a queue do not follow from single tasks but from a job as a whole: its phase, its minimum and
what it holds. They are kept as sums of contributions, one a job, made anew for the jobs that changed
before a session opens; `accounting` swaps the old contribution for the new one. Within a session they
stand still, and plugins add what they admit themselves (spec 05 §1.2, §11.1, design-notes §1 item 27).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.model import readiness
from vcsched.model.reserve import elastic, reserve, ungate

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.columns.table import Cells
    from vcsched.model.job import Job
    from vcsched.model.resources import Amounts

INQUEUE, ADMITTED, RUNNING_RESERVE, ELASTIC = range(4)

Contribution = tuple[tuple[int, int, float], ...]
"""(which sum, column, amount) triples; amounts are above 0."""


def contribution(job: Job, picture: Picture) -> Contribution:
    """What the job adds to its queue now.

    A job in phase Inqueue reserves what its minimum lacks; so does a running one while it holds at least
    its minimum number of pods (one whose driver is done must not reserve again). Overcommit counts the
    whole minimum of the former and what the latter lacks. What a job holds beyond its minimum is elastic.
    """
    table, names, row = picture.job_table, picture.space.names, job.row
    allocated = _row(table.alloc_cells, names, row) if readiness.holding(job.counts) else {}
    minimum = job.min_resources
    parts = [(ELASTIC, elastic(allocated, minimum or {}))]
    if minimum is not None:
        gated = _row(table.gated_cells, names, row) if job.gated_count else {}
        if job.phase == "Inqueue":
            parts.append((INQUEUE, ungate(reserve(minimum, allocated), gated)))
            parts.append((ADMITTED, ungate(minimum, gated)))
        elif job.phase == "Running" and readiness.holding(job.counts) >= job.min_available:
            missing = ungate(reserve(minimum, allocated), gated)
            parts += [(INQUEUE, missing), (RUNNING_RESERVE, missing)]
    column = picture.space.column
    return tuple((kind, column(name), amount) for kind, part in parts for name, amount in part.items() if amount)


def _row(cells: Cells, names: list[str], row: int) -> Amounts:
    return {name: amount for name, column in zip(names, cells, strict=True) if (amount := column[row])}
