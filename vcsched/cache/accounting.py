"""Accounting: the only writer of sums, counts and index sets.

A task's contribution to every sum is a function of (request, status, node, hidden). `place` takes the old
contribution away and adds the new one, so undoing a move is the move back, in whatever order
(design-notes D1). Everything a sum depends on is changed here and nowhere else; `cache.verify` recomputes
it all from the objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from vcsched.cache.deltas import Deltas
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
    from vcsched.columns.table import Table
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
SIGNS: tuple[dict[str, int], ...] = (
    {},
    {"idle": -1, "used": 1, "future": -1},
    {"idle": -1, "used": 1, "releasing": 1},
    {"pipelined": 1, "future": -1},
)
"""SIGNS[effect]: how often the request counts in which sum of the node."""

# which sums of its job and queue a task counts in, by status
HOLDS = [status in (ALLOCATED, BINDING, BOUND, RUNNING) for status in range(STATUSES)]
CHARGED = [holds or status == PIPELINED for status, holds in enumerate(HOLDS)]
REQUESTED = [holds or status == PENDING for status, holds in enumerate(HOLDS)]
COUNTS_IN = [
    {"alloc": int(HOLDS[status]), "charged": int(CHARGED[status]), "requested": int(REQUESTED[status])}
    for status in range(STATUSES)
]


class Accounting:
    """Moves tasks, jobs and queues; see the module's text."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.quiet = False  # while a session's leftovers are taken back, nobody needs to look again
        nodes, jobs, queues = picture.nodes, picture.job_table, picture.queue_table
        self._on_node = [
            [Deltas(nodes, _seen(SIGNS[effect], hidden), counts_pods=not hidden) for effect in ON_NODE]
            for hidden in (False, True)
        ]
        """[hidden][status]: what a task on a node adds to it."""
        self._moves = [[_change(jobs, queues, old, new) for new in COUNTS_IN] for old in COUNTS_IN]
        """[old][new]: what a change of status adds to a job and its queue; None: nothing."""
        self._members = [
            [(Deltas(jobs, {**counts, "total": 1, "gated": gated}), Deltas(queues, counts)) for counts in COUNTS_IN]
            for gated in (0, 1)
        ]
        """[held by gates of others][status]: what a task adds to its job and to that's queue."""

    # ------------------------------------------------------------------ tasks

    def place(self, task: Task, status: int, node: Node | None, *, hidden: bool = False) -> None:
        """Give a task another status and node. `hidden`: evicted in this session, so out of the view."""
        old, old_node, job = task.status, task.node, task.job
        same_room = old_node is node and hidden == task.hidden and ON_NODE[old] == ON_NODE[status]
        if old_node is not None and not same_room:
            self._leave(task, old_node)
        if job is not None:
            if old == RELEASING and old_node is not None:
                job.releasing_placed -= 1
            if status == RELEASING and node is not None:
                job.releasing_placed += 1
            if old != status:
                self._recount(job, task, old, status)
        task.node = node
        task.hidden = hidden
        task.status = status
        if node is not None and not same_room:
            self._enter(task, node)

    def _leave(self, task: Task, node: Node) -> None:
        del node.tasks[task.uid]
        picture, row = self.picture, node.row
        sums = picture.nodes.rows[row]
        np.subtract(sums, self._on_node[task.hidden][task.status][task.request], sums)
        picture.room_log.rows.append(row)
        if not task.hidden:
            picture.counters.removed(task, row)

    def _enter(self, task: Task, node: Node) -> None:
        node.tasks[task.uid] = task
        picture, row = self.picture, node.row
        sums = picture.nodes.rows[row]
        np.add(sums, self._on_node[task.hidden][task.status][task.request], sums)
        picture.room_log.rows.append(row)
        if not task.hidden:
            picture.counters.placed(task, row)

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
        move = self._moves[old][new]
        if move is not None:
            self._count(job, task, move, np.add)
        self.touch(job)

    def _pending(self, job: Job, task: Task, sign: int) -> None:
        if task.best_effort:
            for tally in task.tallies:
                tally[STATUSES] += sign
            if job.counts[STATUSES] <= 1:
                _keep(self.picture.best_effort, job, job.counts[STATUSES] > 0)
        elif not task.gated:
            job.placeable += sign
            if job.placeable <= 1:
                _keep(self.picture.placeable, job, job.placeable > 0)

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
            self._job_sums(job, task, 1)
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
            self._job_sums(job, task, -1)
            job.fit_errors.pop(task.uid, None)
            self.touch(job)
        task.node = None

    def _job_sums(self, job: Job, task: Task, sign: int) -> None:
        membership = self._members[task.gated and task.gates != _QUEUE_GATE_ONLY][task.status]
        self._count(job, task, membership, np.add if sign > 0 else np.subtract)
        if task.gated:
            job.gated_count += sign

    def _count(self, job: Job, task: Task, deltas: tuple[Deltas, Deltas], operation: np.ufunc) -> None:
        """Add what a task counts in the sums of its job and of that's queue, or take it off."""
        of_job, of_queue = deltas
        sums = self.picture.job_table.rows[job.row]
        operation(sums, of_job[task.request], sums)
        if job.queue is not None:
            sums = self.picture.queue_table.rows[job.queue.row]
            operation(sums, of_queue[task.request], sums)

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
        picture = self.picture
        _keep(picture.waiting_admission, job, job.pending_phase)
        _keep(picture.placeable, job, job.placeable > 0)
        _keep(picture.best_effort, job, job.counts[STATUSES] > 0)

    def set_phase(self, job: Job, phase: str) -> None:
        """Change the phase as this scheduler sees it."""
        if phase != job.phase:
            job.phase = phase
            _keep(self.picture.waiting_admission, job, job.pending_phase)
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
        if job.tasks:
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


def _keep(index: dict[str, Job], job: Job, belongs: bool) -> None:
    """Have a job in an index set, or not; one without a queue is in none."""
    if belongs and job.queue is not None:
        index[job.key] = job
    else:
        index.pop(job.key, None)


def _seen(signs: Mapping[str, int], hidden: bool) -> Mapping[str, int]:
    return signs if hidden else {**signs, "view_used": 1}


def _change(jobs: Table, queues: Table, old: Mapping[str, int], new: Mapping[str, int]) -> tuple[Deltas, Deltas] | None:
    signs = {name: new[name] - old[name] for name in new if new[name] != old[name]}
    return (Deltas(jobs, signs), Deltas(queues, signs)) if signs else None
