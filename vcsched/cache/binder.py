"""The binder: committed placements become Bind messages, and their results become task statuses.

A bound task is Binding, which is assumed, until the watch shows the pod on its node. A bind that fails for
good makes the task what its pod says (usually Pending), and the pod gets the reason (spec 02 §14). The others
of its gang may be bound already: a gang in pieces holds room that is of no use, so it is marked as torn and
completed before others start, also when it was an earlier scheduler that died over it.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from vcsched.kube.link import Bind, Wrote
from vcsched.model import readiness
from vcsched.model.status import BINDING

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.model.job import Job
    from vcsched.model.node import Node
    from vcsched.model.task import Task

log = logging.getLogger(__name__)


def is_in_pieces(job: Job) -> bool:
    """Whether the gang holds room and lacks its minimum."""
    return readiness.holding(job.counts) > 0 and not job.is_ready()


class Binder:
    """Sends binds; `sent` and `failed` count them since start.

    `times` are, for the metrics, of each bind that went well: how long it took, and how old its pod was by then.
    """

    def __init__(self, cache: SchedulerCache) -> None:
        self._cache = cache
        self.sent = 0
        self.failed = 0
        self.times: list[tuple[float, float]] = []
        self._gang = ""  # whose bind was sent last

    def bind(self, task: Task, node: Node, annotations: dict[str, str] | None = None) -> None:
        """Make an Allocated task Binding and send its bind.

        Binds leave gang by gang while the session goes on; a gang's leave together, so that the first one that
        fails can hold the others back.
        """
        cache = self._cache
        if task.job_key != self._gang:
            self._gang = task.job_key
            cache.flush_if_many()
        cache.accounting.place(task, BINDING, node)
        task.node_name = node.name
        task.assumed = True
        task.write = number = cache.number(partial(self._ended, task))
        merged = {**task.pod.metadata.annotations, **annotations} if annotations else None
        cache.send(
            Bind(
                no=number,
                namespace=task.namespace,
                name=task.name,
                uid=task.uid,
                node=node.name,
                annotations=merged,
                gang=task.job_key,
            )
        )
        self.sent += 1

    def find_torn(self) -> list[Job]:
        """Mark the gangs that an earlier scheduler left in pieces. To be called once the first lists are in."""
        torn = [job for job in self._cache.picture.jobs.values() if job.pending and is_in_pieces(job)]
        for job in torn:
            job.torn = True
        return torn

    def _ended(self, task: Task, wrote: Wrote) -> None:
        job = task.job
        if wrote.ok:
            if wrote.ended:
                self.times.append((wrote.seconds, wrote.ended - task.created))
            if job is not None:
                job.bind_failures = 0
        if wrote.ok or task.write != wrote.no or task.status != BINDING:
            return
        self.failed += 1
        node = task.node_name
        log.warning("bind of pod %s to node %s failed: %s", task.key, node, wrote.reason)
        self._cache.revert(task)
        if job is not None:
            job.torn = True
            self._back_off(job, f"pod {task.key} could not be bound to node {node}: {wrote.reason}")
        self._cache.status_writer.mark(task, "SchedulerError", f"failed to bind to node {node}: {wrote.reason}")

    def _back_off(self, job: Job, sentence: str) -> None:
        """Try a job at once after the first refused bind, then after 2, 4, … seconds, a minute at most."""
        now = self._cache.clock()
        if now >= job.retry_at:  # the first of this round
            job.bind_failures += 1
            job.retry_at = now + (min(60.0, 2.0 ** (job.bind_failures - 1)) if job.bind_failures > 1 else 0.0)
        job.refusal = ("bind", sentence)
