"""Every sentence about waiting jobs and pods that users and tools read (spec 01 §3.9, 03 §15).

Tools match on these texts, so they follow the reference to the letter; our own sentence comes behind a dash
and is made in `framework.explain`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from vcsched.model.status import ALLOCATED, NAMES, PENDING, PIPELINED, STATUSES

if TYPE_CHECKING:
    from vcsched.model.job import Job
    from vcsched.model.task import Task

ALL_UNAVAILABLE = "all nodes are unavailable"


class TaskReason(NamedTuple):
    """Why one task waits; `message` may be empty, then the job's message stands for it."""

    reason: str
    message: str
    nominated: str


def histogram(counts: dict[str, int]) -> str:
    """`10 Pending, 2 Running`, sorted as text."""
    return ", ".join(sorted(f"{count} {name}" for name, count in counts.items()))


def task_reason(task: Task, job: Job) -> TaskReason:
    """Reason, message and nominated node of a task, from what an undone attempt had given it, if any."""
    if task.attempt is not None:
        status, node, after_eviction = task.attempt
    else:
        status, node, after_eviction = task.status, task.node, task.after_eviction
    name = node.name if node is not None else ""
    if status == ALLOCATED:
        return TaskReason(
            "Schedulable",
            f"Pod {task.key} can possibly be assigned to {name}, once minAvailable is satisfied",
            "",
        )
    if status == PIPELINED:
        message = (
            f"Pod {task.key} can possibly be assigned to {name}, "
            "once resource is released and minAvailable is satisfied"
        )
        # a promise that was taken back is no nomination (design-notes §7 row 5)
        return TaskReason("Unschedulable", message, name if after_eviction and task.attempt is None else "")
    if status == PENDING:
        fit = job.fit_errors.get(task.uid)
        return TaskReason("Unschedulable", fit.text if fit is not None else "", "")
    return TaskReason(NAMES[status], "", "")


_PLACE = re.compile(r"(?<= can possibly be assigned to )[^,]*")


def is_news(old: str, new: str) -> bool:
    """Whether a text says something new. Chance decides which of equal nodes would take a pod, so that it would now
    be another one is no news."""
    return old != new and _PLACE.sub("", old) != _PLACE.sub("", new)


def job_fit_message(job: Job) -> str:
    """`pod group is not ready, 3 Pending, 3 minAvailable; Pending: 3 Unschedulable. Origin reason is …`."""
    detail = "pod group is ready" if job.is_ready() else "pod group is not ready"
    statuses = {NAMES[status]: job.counts[status] for status in range(STATUSES) if job.counts[status]}
    statuses["minAvailable"] = job.min_available
    text = f"{detail}, {histogram(statuses)}"
    if job.counts[PENDING]:
        reasons: dict[str, int] = {}
        for task in job.pending.values():
            reason = task_reason(task, job).reason
            reasons[reason] = reasons.get(reason, 0) + 1
        text += f"; Pending: {histogram(reasons)}"
    failed = [job.tasks[uid] for uid in job.fit_errors if uid in job.tasks]
    if failed:
        first = min(failed, key=lambda task: (task.namespace, task.name, task.uid))
        text += f". Origin reason is {first.name}: {job.fit_errors[first.uid].text}"
    return text


def gang_message(unready: int, job: Job, fit_message: str) -> str:
    """The sentence of PodGroup events and of the Unschedulable condition."""
    return f"{unready}/{len(job.tasks)} tasks in gang unschedulable: {fit_message}"
