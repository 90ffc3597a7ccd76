"""The picture: all objects and tables of the cluster, in one place, owned by the session thread.

Holds, finds and indexes; changes sums nowhere (that is `cache.accounting`). The index sets say what a
session must look at, so that its cost follows change and not size (DESIGN 1.2).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from vcsched.cache.tables import JobTable, NodeTable, QueueTable
from vcsched.columns.intern import InternColumn
from vcsched.columns.looks import Looks
from vcsched.columns.rowlog import RowLog
from vcsched.columns.space import Space
from vcsched.columns.table import FloatArray

if TYPE_CHECKING:
    from vcsched.cache.podcounters import PodCounters
    from vcsched.kube.objects import Namespace, PodDisruptionBudget, PriorityClass, ResourceQuota
    from vcsched.model.job import Job
    from vcsched.model.load import NodeLoad
    from vcsched.model.node import Node
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task


class Picture:
    """Everything the scheduler knows. `nodes` is the node table, `node_at[row]` the node of a row."""

    counters: PodCounters

    def __init__(self) -> None:
        self.space = Space()
        self.nodes = NodeTable(self.space)
        self.job_table = JobTable(self.space)
        self.queue_table = QueueTable(self.space)

        self.node_at: list[Node | None] = []
        self.nodes_by_name: dict[str, Node] = {}
        self.tasks: dict[str, Task] = {}  # by pod uid
        self.jobs: dict[str, Job] = {}
        self.queues: dict[str, Queue] = {}
        self.priority_classes: dict[str, PriorityClass] = {}
        self.namespaces: dict[str, Namespace] = {}
        self.quotas: dict[str, dict[str, ResourceQuota]] = {}
        self.budgets: dict[str, PodDisruptionBudget] = {}
        self.loads: dict[str, NodeLoad] = {}  # by node name, as the source of metrics last reported
        self.workloads: dict[type, dict[str, Any]] = {}  # Services and controllers, for default spreading

        # what waits for an object that has not come yet
        self.tasks_without_node: dict[str, dict[str, Task]] = {}
        self.jobs_without_queue: dict[str, dict[str, Job]] = {}

        # what a session must look at
        self.attached: dict[str, Job] = {}
        self.waiting_admission: dict[str, Job] = {}
        self.placeable: dict[str, Job] = {}
        self.best_effort: dict[str, Job] = {}
        self.touched: dict[str, Job] = {}
        self.touched_queues: dict[str, Queue] = {}
        self.stale_contributions: dict[str, Job] = {}

        self.room_log = RowLog()  # rows whose room, pods or view changed
        self.node_log = RowLog()  # rows whose node object changed
        self.looks = Looks(self.nodes, self.room_log)  # nodes with the same room
        self._totals: dict[str, tuple[tuple[int, int, int], FloatArray]] = {}
        self.epoch = 0  # rows were renumbered
        self.changes = 0  # counts everything that came in from outside and everything committed

        self.label_columns: dict[str, InternColumn[str | None]] = {}
        self.attribute_columns: dict[Callable[[Node], Any], InternColumn[Any]] = {}

    # -- nodes, as rows

    def new_node_row(self, node: Node) -> None:
        """Put a node into `node_at` under its row, and read its attributes into the columns in use."""
        while len(self.node_at) <= node.row:
            self.node_at.append(None)
        self.node_at[node.row] = node
        self.nodes_by_name[node.name] = node
        self.read_node(node)

    def read_node(self, node: Node) -> None:
        """Read labels and attributes off the node object into the interned columns that somebody asks for."""
        for key, column in self.label_columns.items():
            column.set(node.row, node.labels.get(key))
        for read, attributes in self.attribute_columns.items():
            attributes.set(node.row, read(node))

    def label(self, key: str) -> InternColumn[str | None]:
        """The column of a node label; a missing label is None."""
        column = self.label_columns.get(key)
        if column is None:
            column = self.label_columns[key] = InternColumn(self.nodes.capacity)
            column.intern(None)
            for node in self.nodes_by_name.values():
                column.set(node.row, node.labels.get(key))
        return self._covering(column)

    def attribute(self, read: Callable[[Node], Any]) -> InternColumn[Any]:
        """The column of something read off the node object by a module-level function."""
        column = self.attribute_columns.get(read)
        if column is None:
            column = self.attribute_columns[read] = InternColumn(self.nodes.capacity)
            for node in self.nodes_by_name.values():
                column.set(node.row, read(node))
        return self._covering(column)

    def _covering(self, column: InternColumn[Any]) -> InternColumn[Any]:
        if len(column.ids) < self.nodes.n:
            column.ids = np.resize(column.ids, self.nodes.capacity)
        if not column.values:
            column.intern(None)
        return column

    def total(self, column: str) -> FloatArray:
        """float64[C]: the sum of a node column over all live nodes (dead rows are zero)."""
        seen = self.epoch, self.room_log.position, self.space.width
        kept = self._totals.get(column)
        if kept is None or kept[0] != seen:
            array: FloatArray = getattr(self.nodes, column)
            kept = self._totals[column] = seen, array[:, : self.nodes.n].sum(axis=1)
        return kept[1].copy()

    # -- jobs

    def job_priority(self, class_name: str) -> int:
        """The value of a priority class, else of the global default, else 0 (spec 02 §10.8, §13)."""
        found = self.priority_classes.get(class_name) if class_name else None
        if found is not None:
            return found.value
        defaults = [c.value for c in self.priority_classes.values() if c.global_default]
        return max(defaults, default=0)
