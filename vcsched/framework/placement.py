"""A placement run: the tasks of one sub-job on a set of nodes, until its minimum is reached (spec 04 §4.4).

The run ends with a statement if the sub-job is ready or at least promised room; otherwise everything it
did is taken back. Why a task found no node is recorded with its job.
"""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from vcsched.framework.fits import FitRecord, everywhere
from vcsched.framework.pipeline import Choice
from vcsched.model import readiness

if TYPE_CHECKING:
    from vcsched.columns.table import BoolArray, IntArray
    from vcsched.framework.plugin import Ask
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.model.form import Shape
    from vcsched.model.job import Job
    from vcsched.model.subjob import SubJob
    from vcsched.model.task import Task

log = logging.getLogger(__name__)


class PlacementRun:
    """Runs placements of one action; remembers over its turns which roles have failed."""

    def __init__(self, ssn: Session) -> None:
        self._ssn = ssn
        self._failed_roles: dict[tuple[str, str], set[Shape]] = {}  # (sub-job, role) -> shapes that found no node
        self._keeps_errors = ssn.compat.role_skip and ssn.argument("allocate").bool("predicateErrorCacheEnable", True)

    def forget(self, sub: SubJob) -> None:
        """Start the record of failed roles of a sub-job anew."""
        for key in [key for key in self._failed_roles if key[0] == sub.key]:
            del self._failed_roles[key]

    def run(
        self, job: Job, sub: SubJob, tasks: deque[Task], rows: IntArray | None = None, hypernode: str = ""
    ) -> Statement | None:
        """Place tasks from the left of `tasks` (they are taken out) on `rows`, or on all nodes.

        Returns the statement if the sub-job is ready or pipelined afterwards, else None with nothing done.
        """
        ssn = self._ssn
        pipeline = ssn.pipeline
        statement = ssn.statement()
        queue = job.queue
        is_ready = ssn.readiness_of(job, sub)
        promised: set[Shape] = set()
        closed: dict[str, BoolArray] = {}  # role -> rows that have refused a task of it, in this run
        while tasks:
            task = tasks.popleft()
            if not ssn.allocatable(queue, task):
                ssn.note_share_refusal(job, task)
                continue
            if task.gated:
                ssn.open_queue_gate(task)
                continue
            if task.role and self._skips_role(sub, task):
                continue
            refused = ssn.pre_predicate(task)
            if refused is not None:
                self._failed(sub, task, everywhere(refused.reason, len(ssn.nodes)))
                if not self._goes_on(job, sub):
                    break
                continue
            ask = pipeline.ask(task)
            if promised and ask.shape in promised and self._has_enough_promises(job, sub):
                continue
            open_rows = self._open_rows(ask, task, rows, closed) if self._keeps_errors else rows
            if task.pod.status.nominated_node_name:
                choice = self._nominated(ask, task, open_rows)
            else:
                choice = pipeline.choose(ask, open_rows)
            if choice is None:
                record = ssn.pipeline.failure(ask, room=True, rows=rows)
                self._failed(sub, task, record.within(hypernode) if hypernode else record)
                if not self._goes_on(job, sub):
                    break
                continue
            self._take(statement, task, choice)
            if not choice.idle:
                promised.add(ask.shape)
            if is_ready():
                return statement
        if is_ready() or ssn.is_sub_job_pipelined(job, sub):
            return statement
        statement.rollback()
        return None

    # ------------------------------------------------------------------ one task

    def _nominated(self, ask: Ask, task: Task, rows: IntArray | None) -> Choice | None:
        """The nominated node if it still takes the task, else the best of all."""
        ssn = self._ssn
        node = ssn.nodes.get(task.pod.status.nominated_node_name)
        if node is not None and (rows is None or node.row in rows):
            choice = ssn.pipeline.choose(ask, np.array([node.row]))
            if choice is not None:
                return choice
        if rows is None:
            ssn.cache.status_writer.clear_nomination(task)
        return ssn.pipeline.choose(ask, rows)

    def _open_rows(self, ask: Ask, task: Task, rows: IntArray | None, closed: dict[str, BoolArray]) -> IntArray | None:
        """Rows without those that refused an earlier task of the role, whatever this task asks: the reference's
        error cache (spec 03 §8.5), where shapes differ inside a role."""
        if not task.role:
            return rows
        ssn = self._ssn
        before = closed.get(task.role)
        alive = ssn.node_table.alive[: ssn.node_table.n]
        refused = alive.copy()
        refused[ssn.pipeline.feasible(ask, room=True)] = False
        closed[task.role] = refused if before is None else before | refused
        if before is None or not before.any():
            return rows
        left = np.flatnonzero(alive & ~before)
        return left if rows is None else np.intersect1d(left, rows)

    def _take(self, statement: Statement, task: Task, choice: Choice) -> None:
        ssn = self._ssn
        node = ssn.world.node_at[choice.row]
        assert node is not None
        refusal = statement.allocate(task, node) if choice.idle else statement.pipeline(task, node)
        if refusal:
            log.warning("pod %s could not be placed on node %s: %s", task.key, node.name, refusal)
            return
        assert task.job is not None
        ssn.observe_placed(task.job)

    def _has_enough_promises(self, job: Job, sub: SubJob) -> bool:
        """A gang that can only be promised room is given it for its minimum, not for all its replicas."""
        return not self._ssn.compat.reserve_all_replicas and self._ssn.is_sub_job_pipelined(job, sub)

    # ------------------------------------------------------------------ failures

    def _failed(self, sub: SubJob, task: Task, record: FitRecord) -> None:
        self._ssn.record(task, record)
        shapes = self._failed_roles.setdefault((sub.key, task.role), set())
        shapes.add(self._ssn.pipeline.ask(task).shape)

    def _skips_role(self, sub: SubJob, task: Task) -> bool:
        """Whether a task of the same role has failed already: then this one is not tried (rule 4)."""
        failed = self._failed_roles.get((sub.key, task.role))
        if not failed:
            return False
        if not self._ssn.compat.role_skip and self._ssn.pipeline.ask(task).shape not in failed:
            return False
        text = f"Task {task.name} with role spec {task.role} has already predicated failed, skip"
        self._ssn.record(task, FitRecord(base=text))
        return True

    def _goes_on(self, job: Job, sub: SubJob) -> bool:
        """Whether the run may still succeed after a task failed (rule 9)."""
        if job.min_available == len(job.tasks) or sub.min_available >= len(sub.tasks):
            return False
        if job.policies:
            return True
        failed = {role for key, role in self._failed_roles if key == sub.key}
        if not job.roles_enforced:
            hopeful = sum(1 for task in job.pending.values() if task.role not in failed)
            return readiness.ready(job.counts) + hopeful >= job.min_available
        return not any(
            job.role_minimum.get(role, 0) > 0 and job.role_ready_count(role) < job.role_minimum[role] for role in failed
        )
