"""The placement run: the tasks of one sub-job on one set of nodes (spec 04 §4.4)."""

from __future__ import annotations

from tests.oracle.heap import Heap
from tests.oracle.job import Job, SubJob
from tests.oracle.points import Reasons
from tests.oracle.resources import fits
from tests.oracle.search import ERROR, ErrorCache, cache_enabled, choose, feasible, with_resources
from tests.oracle.session import Session
from tests.oracle.statement import Statement
from tests.oracle.task import READY, Task


def place_run(session: Session, job: Job, sub_job: SubJob, tasks: Heap[Task], names: list[str]) -> Statement | None:
    """Place tasks until the sub-job is ready; None, all undone, if it ends neither ready nor pipelined."""
    run = _Run(session, job, sub_job, names)
    while tasks:
        task = tasks.pop()
        if not session.may_allocate(session.queues[job.queue], task) or task.gates:
            continue
        if task.role and any(other.role == task.role and other.uid in job.fit_errors for other in sub_job.tasks):
            job.fit_errors[task.uid] = {}  # a task of this role failed already: not even tried
            continue
        if not run.place(task):
            if stops_after_failure(job, sub_job):
                break
            continue
        if session.sub_job_is_ready(job, sub_job):
            break
    if session.sub_job_is_ready(job, sub_job) or session.sub_job_is_pipelined(job, sub_job):
        return run.statement
    run.statement.discard()
    return None


class _Run:
    def __init__(self, session: Session, job: Job, sub_job: SubJob, names: list[str]) -> None:
        self.session, self.job, self.sub_job, self.names = session, job, sub_job, names
        self.statement = Statement(session)
        self.cache = ErrorCache(cache_enabled(session, "allocate"))
        self.hint = sub_job.allocated_hyper_node

    def place(self, task: Task) -> bool:
        """Place one task now or promise it; False, with its fit errors recorded, if no node passes."""
        session = self.session
        reason = session.pre_predicate(task)
        if reason:
            self.job.fit_errors[task.uid] = {name: [(ERROR, reason)] for name in self.names}
            return False
        passing, errors = self._feasible(task)
        if not passing:
            self.job.fit_errors[task.uid] = errors
            return False
        if self.sub_job.topology:
            task.topology_hint = self.hint
        name = choose(session, task, passing)
        if name is None:
            return True
        if fits(task.request, session.nodes[name].idle):
            self.statement.allocate(task, name)
        else:
            self.statement.pipeline(task, name)
        if self.sub_job.topology:
            self.hint = session.topology.common_ancestor(self.hint, session.topology.holder(name))
        return True

    def _feasible(self, task: Task) -> tuple[list[str], dict[str, Reasons]]:
        """The nominated node alone if it still passes, else all (spec 04 §4.6)."""
        session, nominated = self.session, task.nominated_node
        if nominated in self.names and fits(task.request, session.nodes[nominated].future_idle()):
            passing, errors = feasible(session, task, [nominated], with_resources, self.cache)
            if passing:
                return passing, errors
        return feasible(session, task, self.names, with_resources, self.cache)


def stops_after_failure(job: Job, sub_job: SubJob) -> bool:
    """Whether the rest is hopeless after a task failed (spec 01 §3.8, 04 §4.4 rule 9)."""
    if job.minimum == len(job.tasks) or sub_job.minimum >= len(sub_job.tasks):
        return True
    if job.policies:
        return False
    failed_roles = {task.role for task in sub_job.tasks if task.uid in job.fit_errors}
    if job.minimum < job.role_minimum_sum:
        hopeful = sum(task.status == "Pending" and task.role not in failed_roles for task in job.tasks)
        return job.ready_count() + hopeful < job.minimum
    for role in failed_roles:
        minimum = job.role_minimum.get(role, 0)
        if minimum > 0 and job.role_count(role, READY) < minimum:
            return True
    return False
