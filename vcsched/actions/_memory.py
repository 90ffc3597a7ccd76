"""What an action has tried in vain while the picture stood still; what is alike fails alike.

Every commit and everything that comes in from outside changes the picture, and all is forgotten.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

from vcsched.framework.certificate import RETRY_S
from vcsched.model import readiness

if TYPE_CHECKING:
    from vcsched.framework.points import Victims
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.task import Task

OUR_VOTERS = frozenset({"gang", "priority", "conformance", "drf", "proportion", "capacity", "pdb", "cdp", "tdm"})
"""Plugins that read nothing of a preemptor but what `likeness` holds."""


class Memory:
    """Keys of failed attempts of one action, over sessions. The pipeline stands for the configuration."""

    def __init__(self) -> None:
        self._changes = -1
        self._pipeline: object = None
        self._until = 0.0
        self._failed: set[Hashable] = set()

    def begin(self, ssn: Session) -> None:
        """Forget what does not hold any more; now and then everything, as chance among ties may help."""
        if self._changes != ssn.world.changes or self._pipeline is not ssn.pipeline or self._until <= ssn.now:
            self._changes, self._pipeline, self._until = ssn.world.changes, ssn.pipeline, ssn.now + RETRY_S
            self._failed.clear()

    def has(self, ssn: Session, key: Hashable) -> bool:
        """Whether such an attempt failed in this picture."""
        self.begin(ssn)
        return key in self._failed

    def add(self, ssn: Session, key: Hashable) -> None:
        """An attempt failed, and nothing of it was left."""
        self.begin(ssn)
        self._failed.add(key)


def claim(ssn: Session, job: Job, voters: Victims) -> Hashable:
    """What gives a job the right to victims: jobs that agree in it may take the same ones.

    A job that has started, that has roles or sub-groups, or that a plugin of others votes about, agrees with itself
    only.
    """
    counts = job.counts
    fresh = not readiness.ready(counts) and not readiness.waiting(counts)
    plain = not job.role_minimum and not job.policies
    if not fresh or not plain or any(entry.plugin not in OUR_VOTERS for entry in voters.registered):
        return job.key, len(job.pending)
    return job.queue_name, job.priority, job.preemptable


def likeness(ssn: Session, job: Job, tasks: Iterable[Task], voters: Victims) -> Hashable:
    """What decides whether an action can do something for a job: jobs that agree in it fail together."""
    return claim(ssn, job, voters), job.min_available, tuple(task_likeness(ssn, task) for task in tasks)


def task_likeness(ssn: Session, task: Task) -> Hashable:
    """What of a task decides the same, beside the claim of its job. Where it was nominated does not: a node that
    takes it without an eviction is found whoever asks."""
    return ssn.pipeline.ask(task).shape, task.priority, task.pod.spec.priority, task.pod.spec.preemption_policy
