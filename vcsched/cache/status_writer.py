"""The status writer: phases, conditions and marks become messages, only when they say something new.

What was written is remembered until the API shows it, so a session that comes to the same verdict writes
nothing (spec 02 §16, design-notes §1 items 15-17).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from vcsched.kube.keys import JOB_ALLOCATED_HYPERNODE
from vcsched.kube.link import Condition, Event, PodGroupStatus, PodStatus, QueueStatus, Reference, Wrote
from vcsched.model import texts

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task


DASH = " — "
"""Stands between the reference's text and our sentence."""


class Mark(NamedTuple):
    """What a pod was last told; `stage` None: told before this process started."""

    reason: str
    text: str
    stage: str | None
    nominated: str


def _said_by(task: Task) -> Mark:
    """What the pod's own condition says."""
    status = task.pod.status
    condition = next((c for c in status.conditions if c.type == "PodScheduled" and c.status == "False"), None)
    if condition is None:
        return Mark("", "", None, status.nominated_node_name)
    return Mark(condition.reason, condition.message.partition(DASH)[0], None, status.nominated_node_name)


class StatusWriter:
    """Sends status writes. What is on its way counts as said: only what differs from it is sent after it."""

    def __init__(self, cache: SchedulerCache) -> None:
        self._cache = cache
        self._queue_writes: dict[str, dict[str, str]] = {}
        self._clearing: set[str] = set()  # uids of pods whose nomination is being cleared

    def mark(self, task: Task, reason: str, text: str, nominated: str = "", why: tuple[str, str] = ("", "")) -> bool:
        """Say on the pod why it waits: condition PodScheduled=False and an event, if either is new.

        `text` is the reference's, `why` our stage and sentence behind it. Numbers in our sentence move all the
        time, so a new sentence alone is no news; a new text or another stage is. An empty nominated node does
        not clear one that was set.
        """
        stage, sentence = why
        said = task.marked or _said_by(task)
        known = said.reason == reason and said.stage in (stage, None) and not texts.is_news(said.text, text)
        if known and (not nominated or nominated == said.nominated):
            return False
        message = f"{text}{DASH}{sentence}" if sentence else text
        task.marked = Mark(reason, text, stage, nominated or said.nominated)
        cache = self._cache
        number = cache.number(lambda wrote: self._marked(task, wrote))
        cache.send(
            PodStatus(
                no=number,
                namespace=task.namespace,
                name=task.name,
                uid=task.uid,
                conditions=(Condition("PodScheduled", "False", reason, message),),
                nominated=nominated or None,
            )  # fmt: skip
        )
        about = Reference("Pod", task.namespace, task.name, task.uid)
        cache.send(Event(about=about, type="Warning", reason="FailedScheduling", message=message))
        return True

    def clear_nomination(self, task: Task) -> None:
        """A nominated node that no longer takes the pod is taken off it, so that others need not honour it."""
        if task.uid in self._clearing:
            return
        self._clearing.add(task.uid)
        if task.marked is not None:
            task.marked = task.marked._replace(nominated="")
        number = self._cache.number(lambda wrote: self._clearing.discard(task.uid))
        self._cache.send(
            PodStatus(
                no=number, namespace=task.namespace, name=task.name, uid=task.uid, conditions=(), nominated=""
            )  # fmt: skip
        )

    def _marked(self, task: Task, wrote: Wrote) -> None:
        if not wrote.ok and wrote.status != 404:
            task.marked = None  # the next session says it again
            if task.job is not None and task.uid in self._cache.picture.tasks:
                self._cache.accounting.touch(task.job)

    def job_status(self, job: Job, status: dict[str, Any], said: dict[str, Any]) -> None:
        """Write the whole status of a PodGroup (camelCase plain values); `said`: its conditions that are ours and
        not shown yet, by type.

        A newer one takes the place of one that has not left yet: while binds go out, the statuses behind them
        gather to one for each job.
        """
        assert job.obj is not None
        cache = self._cache
        annotations = None
        hypernode = job.allocated_hypernode
        said_before = job.status_write and hypernode  # the write on its way may say another one
        if said_before or hypernode != job.obj.metadata.annotations.get(JOB_ALLOCATED_HYPERNODE, ""):
            annotations = {JOB_ALLOCATED_HYPERNODE: hypernode}
        version = job.obj.metadata.resource_version
        job.status_write = number = cache.number(partial(self._job_written, job, version))
        job.status_sent, job.conditions_sent = status, said
        cache.send(
            PodGroupStatus(
                no=number,
                namespace=job.namespace,
                name=job.name,
                uid=job.uid,
                resource_version=version,
                status=status,
                annotations=annotations,
                said=tuple(said),
            )  # fmt: skip
        )

    def _job_written(self, job: Job, version: str, wrote: Wrote) -> None:
        """The last status is written, or cannot be: what the API has is what counts again, so the job is looked
        at once more, unless its PodGroup is yet to be shown with what was written."""
        if job.status_write != wrote.no:
            return
        job.forget_sent()
        if job.obj is None:
            return
        if not wrote.ok:
            job.verdict = None  # said again when the job is looked at next
        elif wrote.obj is None and job.obj.metadata.resource_version == version:
            return
        self._cache.accounting.set_phase(job, job.obj.status.phase)
        self._cache.accounting.touch(job)

    def queue_status(self, queue: Queue, allocated: dict[str, str]) -> None:
        """Write what a queue's jobs hold, if that is not what was last written."""
        if self._queue_writes.get(queue.name) == allocated:
            return
        self._queue_writes[queue.name] = allocated
        number = self._cache.number(lambda wrote: self._queue_written(queue, wrote))
        self._cache.send(QueueStatus(no=number, name=queue.name, allocated=allocated))

    def _queue_written(self, queue: Queue, wrote: Wrote) -> None:
        self._queue_writes.pop(queue.name, None)
        if not wrote.ok and self._cache.picture.queues.get(queue.name) is queue:
            self._cache.picture.touched_queues[queue.name] = queue
