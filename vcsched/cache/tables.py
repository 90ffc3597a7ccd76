"""The tables of the picture: nodes, jobs, queues (design-notes §2.2). Written by `cache.accounting` only.

Two accountings stand side by side on a node. The scheduler's own (`alloc` … `pipelined`) says what may be
given out; the Kubernetes view (`view_*`) says what filters and scorers of Kubernetes would see: status
allocatable without oversubscription, and the pods on the node without those evicted in this session.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import numpy.typing as npt

from vcsched.columns.space import Space
from vcsched.columns.table import BoolArray, Cells, FloatArray, Table


class NodeTable(Table):
    """One row a node, in first-seen order; a removed node leaves a tombstone (`alive` 0)."""

    AMOUNTS = ("alloc", "used", "idle", "releasing", "pipelined", "future", "view_alloc", "view_used")
    NUMBERS: ClassVar = {
        "alive": np.bool_, "view_pods": np.float64, "view_nonzero_cpu": np.float64, "view_nonzero_memory": np.float64,
    }  # fmt: skip

    alloc: FloatArray  # allocatable, oversubscription included
    used: FloatArray
    idle: FloatArray  # alloc - used; may be negative
    releasing: FloatArray  # part of used that is leaving
    pipelined: FloatArray  # promised to tasks that wait for it
    future: FloatArray  # idle + releasing - pipelined
    view_alloc: FloatArray
    view_used: FloatArray
    alive: BoolArray
    view_pods: FloatArray
    view_nonzero_cpu: FloatArray  # milli; containers without a request count the scorers' default
    view_nonzero_memory: FloatArray  # bytes; same
    alloc_cells: Cells
    used_cells: Cells
    idle_cells: Cells
    releasing_cells: Cells
    pipelined_cells: Cells
    future_cells: Cells
    view_alloc_cells: Cells
    view_used_cells: Cells
    alive_cells: memoryview[int]
    view_pods_cells: memoryview[float]
    view_nonzero_cpu_cells: memoryview[float]
    view_nonzero_memory_cells: memoryview[float]

    def __init__(self, space: Space) -> None:
        super().__init__(space, capacity=256, ordered=True)


class JobTable(Table):
    """One row a job."""

    AMOUNTS = ("alloc", "charged", "total", "requested", "gated", "minimum")
    BY_ROW = True  # hardly anybody asks about all jobs at once

    alloc: FloatArray  # of tasks that hold room: Allocated, Binding, Bound, Running
    charged: FloatArray  # alloc, and inside a session also Pipelined tasks; what shares are computed from
    total: FloatArray  # of all tasks, whatever their status
    requested: FloatArray  # of tasks that hold room or are Pending
    gated: FloatArray  # of tasks held by scheduling gates other than the queue's own
    minimum: FloatArray  # spec.minResources
    alloc_cells: Cells
    charged_cells: Cells
    total_cells: Cells
    requested_cells: Cells
    gated_cells: Cells
    minimum_cells: Cells


class QueueTable(Table):
    """One row a queue; sums over the jobs attached to it (not its children)."""

    AMOUNTS = (
        "alloc", "charged", "requested", "inqueue", "admitted", "running_reserve", "elastic",
        "capability", "guarantee", "deserved",
    )  # fmt: skip
    NUMBERS: ClassVar = {"alive": np.bool_, "jobs": np.int64, "weight": np.float64}

    alloc: FloatArray
    charged: FloatArray
    requested: FloatArray
    inqueue: FloatArray  # reserved for admitted jobs: what their minimum still lacks (spec 05 §1.2)
    admitted: FloatArray  # whole minimum of jobs in phase Inqueue (overcommit counts that)
    running_reserve: FloatArray  # what running jobs still lack of their minimum
    elastic: FloatArray  # what jobs hold beyond their minimum
    capability: FloatArray  # spec.capability; +inf where unlimited
    guarantee: FloatArray
    deserved: FloatArray  # spec.deserved
    alive: BoolArray
    jobs: npt.NDArray[np.int64]
    weight: FloatArray
    alloc_cells: Cells
    charged_cells: Cells
    requested_cells: Cells
    inqueue_cells: Cells
    admitted_cells: Cells
    running_reserve_cells: Cells
    elastic_cells: Cells
    capability_cells: Cells
    guarantee_cells: Cells
    deserved_cells: Cells

    def _widen(self, width: int) -> None:
        before = len(self.capability)
        super()._widen(width)
        self.capability[before:, self.alive] = np.inf  # no queue has said anything about a new resource
