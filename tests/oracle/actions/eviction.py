"""What preempt, reclaim and the gang actions share."""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracle.heap import Heap
from tests.oracle.job import Job
from tests.oracle.node import Node
from tests.oracle.resources import Resources, plus, total_of
from tests.oracle.session import Session
from tests.oracle.task import Task


def pending_heap(session: Session, job: Job) -> Heap[Task]:
    """Pending tasks without a gate, best-effort ones included."""
    return Heap(session.task_less, (task for task in job.tasks if task.status == "Pending" and not task.gates))


def tasks_on(session: Session, node: Node) -> list[Task]:
    """The tasks of a node, from a map in the reference: in any order, anew each time it is asked.

    The order matters where a plugin lets only so many of a job's tasks go (spec 05 §3.4).
    """
    return session.choices.shuffle(sorted(node.tasks(), key=lambda task: (task.created, task.uid)))


def with_freed(room: Resources, victims: Iterable[Task]) -> Resources:
    return plus(room, total_of(victim.request for victim in victims))
