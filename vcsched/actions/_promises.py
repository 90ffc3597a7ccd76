"""Promises are kept: a job for which pods were evicted gets that room, whoever else has come meanwhile.

Between the eviction and the day the victims are gone, other jobs may stand before it in the order of queues
and jobs. They would take the room, and the evictions would have been in vain and be made again.
"""

from __future__ import annotations

from collections import deque
from functools import cmp_to_key
from typing import TYPE_CHECKING

import numpy as np

from vcsched.framework.promises import is_nominated, nominated_node, takes
from vcsched.model.status import PENDING

if TYPE_CHECKING:
    from vcsched.framework.domains import Work
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.model.job import Job
    from vcsched.model.task import Task


def keep_promises(ssn: Session, work: dict[Job, Work]) -> None:
    """Place jobs on their nominated nodes, as far as those still take them, before anybody else is asked.

    A job that starts keeps its other tasks in `work`; one that still waits for victims to leave holds its
    promises until the session ends and is taken out.
    """
    if ssn.compat.evict_unchecked:
        return

    def compare(a: Job, b: Job) -> int:
        assert a.queue is not None
        assert b.queue is not None
        if a.queue is not b.queue:
            return -1 if ssn.queue_less(a.queue, b.queue) else 1
        return -1 if ssn.job_less(a, b) else 1

    promised = [job for job, parts in work.items() if any(is_nominated(t) for tasks in parts.values() for t in tasks)]
    for job in sorted(promised, key=cmp_to_key(compare)):
        if ssn.overused(job.queue):
            continue
        statement = ssn.statement()
        for tasks in work[job].values():
            for task in tasks:
                _place(ssn, statement, task)
        if not statement or not (ssn.job_ready(job) or ssn.job_pipelined(job)):
            statement.rollback()
        elif ssn.job_ready(job):
            statement.commit()
            left = {key: deque(t for t in tasks if t.status == PENDING) for key, tasks in work[job].items()}
            work[job] = {key: tasks for key, tasks in left.items() if tasks}
            if not work[job]:
                del work[job]
        else:
            del work[job]  # the statement is left open until the session ends


def _place(ssn: Session, statement: Statement, task: Task) -> None:
    node, job = nominated_node(ssn, task), task.job
    if node is None or job is None or task.gated or not ssn.allocatable(job.queue, task):
        return
    if ssn.pre_predicate(task) is not None:
        return
    ask = ssn.pipeline.ask(task)
    choice = ssn.pipeline.choose(ask, np.array([node.row]))
    if choice is not None and choice.idle:
        if not statement.allocate(task, node):
            ssn.observe_placed(job)
    elif choice is not None or takes(ssn, ask, node):
        statement.pipeline(task, node, after_eviction=True)
