"""What eviction actions place: pending tasks without gates (spec 04 §6.1, §7.1)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from vcsched.framework import orders

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.task import Task


def waiting_tasks(ssn: Session, job: Job) -> deque[Task]:
    """Pending tasks without gates, best-effort ones included, in task order."""
    return deque(orders.tasks_in_order(ssn, [t for t in job.pending.values() if not t.gated]))
