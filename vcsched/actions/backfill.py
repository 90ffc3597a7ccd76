"""backfill: pending tasks that ask for nothing get nodes (spec 04 §5).

They take no room, so queue limits are not asked; a closed queue is (design-notes §7 row 17). A task whose
job is not ready yet holds its node in this session only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.columns.live import LiveQueue, Waiting
from vcsched.framework import orders
from vcsched.framework.fits import everywhere
from vcsched.framework.statement import Statement

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task


class Backfill:
    name = "backfill"

    def execute(self, ssn: Session) -> None:
        open_statements: dict[str, Statement] = {}
        for task in self._tasks(ssn):
            self._place(ssn, task, open_statements)

    def _tasks(self, ssn: Session) -> list[Task]:
        """All tasks at once, in order of queues, jobs and tasks, fixed before anything is placed."""
        jobs_of: dict[str, Waiting[Job]] = {}
        queues: LiveQueue[Queue] = LiveQueue(ssn.queue_less)
        waiting: dict[str, list[Task]] = {}
        promised = ssn.reopen_best_effort()
        for job in {**ssn.world.best_effort, **promised}.values():
            queue = job.queue
            for task in job.pending.values():
                if task.best_effort:
                    job.fit_errors.pop(task.uid, None)
                    task.attempt = None
            if queue is None or job.pending_phase or not ssn.valid(job):
                continue
            if not ssn.compat.backfill_closed_queues and not queue.is_open(ssn.compat.stateless_queue_closed):
                continue
            tasks = [t for t in job.pending.values() if t.best_effort and not t.gated]
            if not tasks:
                continue
            waiting[job.key] = orders.tasks_in_order(ssn, tasks)
            if queue.name not in jobs_of:
                jobs_of[queue.name] = orders.job_queue(ssn)
                queues.push(queue)
            jobs_of[queue.name].push(job)
        ordered: list[Task] = []
        while queues:
            jobs = jobs_of[queues.pop().name]
            while jobs:
                ordered.extend(waiting[jobs.pop().key])
        return ordered

    def _place(self, ssn: Session, task: Task, open_statements: dict[str, Statement]) -> None:
        job = task.job
        assert job is not None
        refused = ssn.pre_predicate(task)
        if refused is not None:
            ssn.record(task, everywhere(refused.reason, len(ssn.nodes)))
            return
        ask = ssn.pipeline.ask(task)
        rows = ssn.pipeline.feasible(ask, room=False)
        row = ssn.pipeline.best(ask, rows) if len(rows) else None
        if row is None:
            ssn.record(task, ssn.pipeline.failure(ask, room=False))
            return
        node = ssn.world.node_at[row]
        assert node is not None
        statement = open_statements.setdefault(job.key, ssn.statement())
        refusal = statement.allocate(task, node)
        if refusal:
            ssn.record(task, everywhere(refusal, 1))
            return
        ssn.observe_placed(job)
        if ssn.job_ready(job):
            open_statements.pop(job.key).commit()
            ssn.dispatch_allocated(job)
