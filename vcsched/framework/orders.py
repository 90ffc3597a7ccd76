"""Default orders, where no plugin has a say (spec 03 §7.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any

from vcsched.columns.live import KeyedQueue, LiveQueue, Waiting

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.subjob import SubJob
    from vcsched.model.task import Task


def queue_less(ssn: Session, a: Queue, b: Queue) -> bool:
    """Plugins, then the older queue, then the name."""
    answer = ssn.queue_order.compare(a, b)
    if answer:
        return answer < 0
    return (a.created, a.name) < (b.created, b.name)


def job_less(ssn: Session, a: Job, b: Job) -> bool:
    """Plugins, then the older PodGroup, then the key."""
    answer = ssn.job_order.compare(a, b)
    if answer:
        return answer < 0
    return (a.created, a.key) < (b.created, b.key)


def job_queue(ssn: Session) -> Waiting[Job]:
    """A queue of jobs for actions under which a job changes only when it is its turn."""
    key = ssn.job_order.sort_key()
    if key is None:
        return LiveQueue(ssn.job_less)
    return KeyedQueue(lambda job: (key(job), job.created, job.key))


def sub_job_less(ssn: Session, a: SubJob, b: SubJob) -> bool:
    """Plugins, then the smaller match index, then the key."""
    answer = ssn.sub_job_order.compare(a, b)
    if answer:
        return answer < 0
    return (a.match_index, a.key) < (b.match_index, b.key)


def tasks_in_order(ssn: Session, tasks: Iterable[Task]) -> list[Task]:
    """Tasks as they are to be placed: plugins, then index if all have one, then age, then uid.

    The reference mixes index and age pairwise, which is no order (03 §21.11); a total one makes its result
    wherever the reference's is determined.
    """
    listed = list(tasks)
    if len(listed) < 2:
        return listed
    by_index = all(task.index is not None for task in listed)
    last = _by_index if by_index else _by_age
    key = ssn.task_order.sort_key()
    if key is not None:
        listed.sort(key=(lambda t: (key(t), last(t))) if ssn.task_order else last)
        return listed

    def compare(a: Task, b: Task) -> int:
        answer = ssn.task_order.compare(a, b)
        return answer or (-1 if last(a) < last(b) else 1 if last(a) > last(b) else 0)

    return sorted(listed, key=cmp_to_key(compare))


def task_less(ssn: Session, a: Task, b: Task) -> bool:
    """Two tasks, perhaps of different jobs: plugins, then the smaller index if both have one, age, uid."""
    answer = ssn.task_order.compare(a, b)
    if answer:
        return answer < 0
    if a.index is not None and b.index is not None and a.index != b.index:
        return a.index < b.index
    return _by_age(a) < _by_age(b)


def victim_less(ssn: Session, preemptor: Task) -> Callable[[Task, Task], bool]:
    """Whether the first of two victims goes before the second, seen from the preemptor (spec 03 §7.5).

    Victims without a job go first; those of one queue in the reverse order of their jobs; those of different
    queues as the plugins say, else in the reverse order of the queues. What is left is the reverse order of tasks.
    """
    home = preemptor.job.queue if preemptor.job is not None else None

    def less(a: Task, b: Task) -> bool:
        mine = a.job if a.job is not None and a.job.attached else None
        other = b.job if b.job is not None and b.job.attached else None
        if mine is other:
            return not task_less(ssn, a, b)
        if mine is None or other is None:
            return mine is None
        queue, rival = mine.queue, other.queue
        assert queue is not None
        assert rival is not None
        if home is None or queue is rival:
            answer = ssn.job_order.compare(mine, other)
            return answer > 0 if answer else not task_less(ssn, a, b)
        answer = ssn.victim_queue_order.compare(queue, rival, home)
        return answer < 0 if answer else not queue_less(ssn, queue, rival)

    return less


def _by_index(task: Task) -> tuple[Any, ...]:
    return (task.index, task.created, task.uid)


def _by_age(task: Task) -> tuple[Any, ...]:
    return (task.created, task.uid)
