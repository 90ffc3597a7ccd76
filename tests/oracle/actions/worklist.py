"""The work list of a job: its sub-jobs in order and the pending tasks of each (spec 04 §4.1)."""

from __future__ import annotations

from tests.oracle.heap import Heap
from tests.oracle.job import Job, SubJob
from tests.oracle.session import Session
from tests.oracle.task import QUEUE_GATE, Task


class WorkList:
    """What is still to place of one job; `clone` gives a trial a list of its own."""

    def __init__(self, session: Session, job: Job) -> None:
        self.session, self.job = session, job
        self.tasks: dict[str, Heap[Task]] = {}
        for sub_job in job.sub_jobs.values():
            heap = Heap(session.task_less, (task for task in sub_job.tasks if is_placeable(task)))
            if heap:
                self.tasks[sub_job.uid] = heap
        self._required = required_sub_jobs(session, job)
        self.sub_jobs = Heap(self.less, (job.sub_jobs[uid] for uid in self.tasks))

    def less(self, left: SubJob, right: SubJob) -> bool:
        """Sub-jobs that the minimum needs go first."""
        left_required, right_required = left.uid in self._required, right.uid in self._required
        if left_required != right_required:
            return left_required
        return self.session.sub_job_less(left, right)

    def clone(self) -> WorkList:
        twin = WorkList.__new__(WorkList)
        twin.session, twin.job, twin._required = self.session, self.job, self._required
        twin.tasks = {uid: heap.clone() for uid, heap in self.tasks.items()}
        twin.sub_jobs = self.sub_jobs.clone()
        return twin

    def adopt(self, other: WorkList) -> None:
        """Go on with what a trial left."""
        self.sub_jobs, self.tasks = other.sub_jobs, other.tasks


def is_placeable(task: Task) -> bool:
    """Pending with a request, and not gated but by our own gate (spec 04 §2.8)."""
    return task.status == "Pending" and not task.best_effort and (not task.gates or task.gates == [QUEUE_GATE])


def required_sub_jobs(session: Session, job: Job) -> set[str]:
    """The sub-jobs that fill up `minSubGroups`, in sub-job order (spec 04 §4.1 rule 8)."""
    counts: dict[str, int] = {}
    unready: Heap[SubJob] = Heap(session.sub_job_less)
    for sub_job in job.sub_jobs.values():
        if sub_job.is_ready():
            counts[sub_job.group] = counts.get(sub_job.group, 0) + 1
        else:
            unready.push(sub_job)
    wanted = {job.group_key(policy): policy.get("minSubGroups") or 0 for policy in job.policies}
    required = set()
    while unready:
        sub_job = unready.pop()
        if counts.get(sub_job.group, 0) < wanted.get(sub_job.group, 0):
            required.add(sub_job.uid)
            counts[sub_job.group] = counts.get(sub_job.group, 0) + 1
    return required
