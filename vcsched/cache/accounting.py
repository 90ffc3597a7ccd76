"""Accounting: the only writer of sums, counts and index sets.

A task's contribution to every sum is a function of (request, status, node, hidden). `place` takes the old
contribution away and adds the new one, so undoing a move is the move back, in whatever order
(design-notes D1). Everything a sum depends on is changed here and nowhere else; `cache.verify` recomputes
it all from the objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.kube.keys import QUEUE_ALLOCATION_GATE
from vcsched.model.status import (
    ALLOCATED,
    BINDING,
    BOUND,
    PENDING,
    PIPELINED,
    RELEASING,
    RUNNING,
    STATUSES,
    TERMINATED,
)  # fmt: skip

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.columns.table import Cells
    from vcsched.model.job import Job
    from vcsched.model.node import Node
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

# what a task on a node does to the node's sums, by status (spec 01 §5.2)
NOTHING, OCCUPIES, LEAVES, PROMISED = range(4)
ON_NODE = [OCCUPIES] * STATUSES
ON_NODE[RELEASING] = LEAVES
ON_NODE[PIPELINED] = PROMISED
for _status in TERMINATED:
    ON_NODE[_status] = NOTHING

HOLDS = [status in (ALLOCATED, BINDING, BOUND, RUNNING) for status in range(STATUSES)]
CHARGED = [holds or status == PIPELINED for status, holds in enumerate(HOLDS)]
REQUESTED = [holds or status == PENDING for status, holds in enumerate(HOLDS)]

EFFECTS = [
    [(HOLDS[new] - HOLDS[old], CHARGED[new] - CHARGED[old], REQUESTED[new] - REQUESTED[old]) for new in range(STATUSES)]
    for old in range(STATUSES)
]
"""EFFECTS[old][new]: how a change of status changes (held, charged, requested)."""


class Accounting:
    """Moves tasks, jobs and queues; see the module's text."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.quiet = False  # while a session's leftovers are taken back, nobody needs to look again

    # ------------------------------------------------------------------ tasks

    def place(self, task: Task, status: int, node: Node | None, *, hidden: bool = False) -> None:
        """Give a task another status and node. `hidden`: evicted in this session, so out of the view."""
        old, old_node = task.status, task.node
        same_room = old_node is node and hidden == task.hidden and ON_NODE[old] == ON_NODE[status]
        if old_node is not None and not same_room:
            self._leave(task, old_node)
        job = task.job
        if job is not None:
            if old == RELEASING and old_node is not None:
                job.releasing_placed -= 1
            if status == RELEASING and node is not None:
                job.releasing_placed += 1
        task.node = node
        task.hidden = hidden
        if job is not None and old != status:
            self._recount(job, task, old, status)
        task.status = status
        if node is not None and not same_room:
            self._enter(task, node)

    def _leave(self, task: Task, node: Node) -> None:
        del node.tasks[task.uid]
        self._node_sums(task, node.row, -1.0)
        if not task.hidden:
            self._view(task, node.row, -1)

    def _enter(self, task: Task, node: Node) -> None:
        node.tasks[task.uid] = task
        self._node_sums(task, node.row, 1.0)
        if not task.hidden:
            self._view(task, node.row, 1)

    def _node_sums(self, task: Task, row: int, sign: float) -> None:
        nodes = self.picture.nodes
        effect = ON_NODE[task.status]
        if effect == OCCUPIES:
            idle, used, future = nodes.idle_cells, nodes.used_cells, nodes.future_cells
            for column, amount in task.request.items:
                amount *= sign
                idle[column][row] -= amount
                used[column][row] += amount
                future[column][row] -= amount
        elif effect == LEAVES:
            idle, used, releasing = nodes.idle_cells, nodes.used_cells, nodes.releasing_cells
            for column, amount in task.request.items:
                amount *= sign
                idle[column][row] -= amount
                used[column][row] += amount
                releasing[column][row] += amount
        elif effect == PROMISED:
            pipelined, future = nodes.pipelined_cells, nodes.future_cells
            for column, amount in task.request.items:
                amount *= sign
                pipelined[column][row] += amount
                future[column][row] -= amount
        self.picture.room_log.rows.append(row)

    def _view(self, task: Task, row: int, sign: int) -> None:
        nodes = self.picture.nodes
        request = task.request
        used = nodes.view_used_cells
        for column, amount in request.items:
            used[column][row] += sign * amount
        nodes.view_pods_cells[row] += sign
        nodes.view_nonzero_cpu_cells[row] += sign * request.nonzero_cpu
        nodes.view_nonzero_memory_cells[row] += sign * request.nonzero_memory
        if sign > 0:
            self.picture.counters.placed(task, row)
        else:
            self.picture.counters.removed(task, row)

    def _recount(self, job: Job, task: Task, old: int, new: int) -> None:
        """A task of a job changed its status: counts, sums of job and queue, index sets."""
        for tally in task.tallies:
            tally[old] -= 1
            tally[new] += 1
        if old == PENDING:
            del job.pending[task.uid]
            self._pending(job, task, -1)
        elif new == PENDING:
            job.pending[task.uid] = task
            self._pending(job, task, 1)
        held, charged, requested = EFFECTS[old][new]
        if held or charged or requested:
            jobs, queues, items = self.picture.job_table, self.picture.queue_table, task.request.items
            if held:
                self._add(job, items, held, jobs.alloc_cells, queues.alloc_cells)
            if charged:
                self._add(job, items, charged, jobs.charged_cells, queues.charged_cells)
            if requested:
                self._add(job, items, requested, jobs.requested_cells, queues.requested_cells)
        self.touch(job)

    def _add(self, job: Job, items: tuple[tuple[int, float], ...], sign: int, of_job: Cells, of_queue: Cells) -> None:
        """Add a request, with its sign, to one sum of the job and of its queue."""
        row, queue = job.row, job.queue
        if queue is None:
            for column, amount in items:
                of_job[column][row] += sign * amount
            return
        queue_row = queue.row
        for column, amount in items:
            signed = sign * amount
            of_job[column][row] += signed
            of_queue[column][queue_row] += signed

    def _pending(self, job: Job, task: Task, sign: int) -> None:
        if task.best_effort:
            for tally in task.tallies:
                tally[STATUSES] += sign
            if job.counts[STATUSES] <= 1:
                self.index(job)
        elif not task.gated:
            job.placeable += sign
            if job.placeable <= 1:
                self.index(job)

    def add_task(self, task: Task, status: int, node: Node | None) -> None:
        """Bring a new task in. Its job, if it has one, must be set; `task.status` is ignored before."""
        job = task.job
        task.status = status
        task.node = node
        if job is not None:
            job.tasks[task.uid] = task
            for tally in task.tallies:
                tally[status] += 1
            if task.subjob is not None:
                task.subjob.tasks[task.uid] = task
            self._job_sums(job, task, 1.0)
            if status == PENDING:
                job.pending[task.uid] = task
                self._pending(job, task, 1)
            elif status == RELEASING and node is not None:
                job.releasing_placed += 1
            self.touch(job)
        if node is not None:
            self._enter(task, node)

    def remove_task(self, task: Task) -> None:
        """Take a task out for good."""
        if task.node is not None:
            self._leave(task, task.node)
        job = task.job
        if job is not None:
            if task.status == PENDING:
                del job.pending[task.uid]
                self._pending(job, task, -1)
            elif task.status == RELEASING and task.node is not None:
                job.releasing_placed -= 1
            del job.tasks[task.uid]
            for tally in task.tallies:
                tally[task.status] -= 1
            if task.subjob is not None:
                del task.subjob.tasks[task.uid]
            self._job_sums(job, task, -1.0)
            job.fit_errors.pop(task.uid, None)
            self.touch(job)
        task.node = None

    def _job_sums(self, job: Job, task: Task, sign: float) -> None:
        table, row, status = self.picture.job_table, job.row, task.status
        queues, queue = self.picture.queue_table, job.queue
        for column, amount in task.request.items:
            amount *= sign
            table.total_cells[column][row] += amount
            if HOLDS[status]:
                table.alloc_cells[column][row] += amount
            if CHARGED[status]:
                table.charged_cells[column][row] += amount
            if REQUESTED[status]:
                table.requested_cells[column][row] += amount
            if task.gated and task.gates != _QUEUE_GATE_ONLY:
                table.gated_cells[column][row] += amount
            if queue is not None:
                qrow = queue.row
                if HOLDS[status]:
                    queues.alloc_cells[column][qrow] += amount
                if CHARGED[status]:
                    queues.charged_cells[column][qrow] += amount
                if REQUESTED[status]:
                    queues.requested_cells[column][qrow] += amount
        if task.gated:
            job.gated_count += int(sign)

    # ------------------------------------------------------------------ nodes

    def set_capacity(self, node: Node, alloc: dict[str, float], plain: dict[str, float]) -> None:
        """Give a node its allocatable amounts (with and without oversubscription); sums of tasks stay."""
        nodes, index, row = self.picture.nodes, self.picture.space.index, node.row
        for name in alloc:
            self.picture.space.column(name)
        nodes.alloc[:, row] = 0.0
        nodes.view_alloc[:, row] = 0.0
        for name, amount in alloc.items():
            nodes.alloc_cells[index[name]][row] = amount
        for name, amount in plain.items():
            nodes.view_alloc_cells[index[name]][row] = amount
        nodes.idle[:, row] = nodes.alloc[:, row] - nodes.used[:, row]
        nodes.future[:, row] = nodes.idle[:, row] + nodes.releasing[:, row] - nodes.pipelined[:, row]
        nodes.alive[row] = True
        self.picture.room_log.rows.append(row)
        self.picture.node_log.rows.append(row)

    def drop_node(self, node: Node) -> None:
        """The node is gone; its row becomes a tombstone. Its tasks were taken off before."""
        self.picture.nodes.free(node.row)
        self.picture.room_log.rows.append(node.row)
        self.picture.node_log.rows.append(node.row)

    # ------------------------------------------------------------------ jobs and queues

    def touch(self, job: Job) -> None:
        """Something about a job changed: its status, reason and reservations are looked at again."""
        if self.quiet:
            return
        picture = self.picture
        if job.key in picture.stale_contributions and job.key in picture.touched:
            return
        picture.touched[job.key] = job
        picture.stale_contributions[job.key] = job
        if job.queue is not None:
            picture.touched_queues[job.queue.name] = job.queue

    def index(self, job: Job) -> None:
        """Put a job into the index sets it belongs to, and take it out of the others."""
        picture, key = self.picture, job.key
        attached = job.queue is not None
        for belongs, index in (
            (attached and job.pending_phase, picture.waiting_admission),
            (attached and job.placeable > 0, picture.placeable),
            (attached and job.counts[STATUSES] > 0, picture.best_effort),
        ):
            if belongs:
                index[key] = job
            else:
                index.pop(key, None)

    def set_phase(self, job: Job, phase: str) -> None:
        """Change the phase as this scheduler sees it."""
        if phase != job.phase:
            job.phase = phase
            self.index(job)
            self.touch(job)

    def attach(self, job: Job, queue: Queue) -> None:
        """The job takes part in scheduling, charged to this queue."""
        job.queue = queue
        queue.jobs[job.key] = job
        self.picture.attached[job.key] = job
        self._queue_sums(job, queue, 1.0)
        self.picture.touched_queues[queue.name] = queue
        self.index(job)
        self.touch(job)

    def detach(self, job: Job) -> None:
        """The job leaves its queue: no PodGroup, no queue, or another queue."""
        queue = job.queue
        if queue is None:
            return
        self.touch(job)
        self.picture.touched_queues[queue.name] = queue
        self._queue_sums(job, queue, -1.0)
        self.set_contribution(job, None)
        del queue.jobs[job.key]
        job.queue = None
        job.fit_errors, job.refusal, job.invalid = {}, None, None  # of a session that saw another job
        del self.picture.attached[job.key]
        self.index(job)

    def _queue_sums(self, job: Job, queue: Queue, sign: float) -> None:
        jobs, queues = self.picture.job_table, self.picture.queue_table
        queues.alloc[:, queue.row] += sign * jobs.alloc[:, job.row]
        queues.charged[:, queue.row] += sign * jobs.charged[:, job.row]
        queues.requested[:, queue.row] += sign * jobs.requested[:, job.row]
        queues.jobs[queue.row] += int(sign)

    def set_contribution(self, job: Job, contribution: tuple[tuple[int, int, float], ...] | None) -> None:
        """Replace what a job adds to its queue's reserved sums: (kind, column, amount) triples, where kind
        indexes `CONTRIBUTIONS`."""
        queue = job.queue
        if contribution == job.contribution or queue is None:
            return
        cells = [getattr(self.picture.queue_table, name + "_cells") for name in CONTRIBUTIONS]
        for kind, column, amount in job.contribution or ():
            cells[kind][column][queue.row] -= amount
        for kind, column, amount in contribution or ():
            cells[kind][column][queue.row] += amount
        job.contribution = contribution


CONTRIBUTIONS = ("inqueue", "admitted", "running_reserve", "elastic")
_QUEUE_GATE_ONLY = (QUEUE_ALLOCATION_GATE,)
