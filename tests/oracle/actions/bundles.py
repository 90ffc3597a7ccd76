"""Bundles: what a gang action may evict of a job at once, safely or as a whole (spec 04 §9.3-9.4)."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.oracle.job import Job
from tests.oracle.resources import Resources, total_of
from tests.oracle.session import Session
from tests.oracle.task import READY, Task

if TYPE_CHECKING:
    from .gang_evict import EvictionContext


@dataclass
class Bundle:
    """Tasks of one job; `whole` means the gang falls below its minimum."""

    job: Job
    whole: bool
    tasks: list[Task]


def bundles(session: Session, context: EvictionContext, need: Resources, names: list[str]) -> list[Bundle]:
    """Allowed bundles on these nodes, in the order in which they are taken."""

    def compare(left: Bundle, right: Bundle) -> int:
        return _compare(session, context, need, left, right)

    order = functools.cmp_to_key(compare)
    found = []
    for key, tasks in candidates(session, context, names).items():
        found += split(session.jobs[key], sorted(tasks, key=lambda task: (task.priority, task.uid)))
    found.sort(key=order)
    every = [task for bundle in found for task in bundle.tasks]
    allowed = {task.uid for task in session.victims("unified_evictable", context, every)} if every else set()
    kept = []
    for bundle in found:
        tasks = [task for task in bundle.tasks if task.uid in allowed]
        if not tasks or (bundle.whole and len(tasks) < len(bundle.tasks)):
            continue
        kept.append(Bundle(bundle.job, bundle.whole, tasks))
    kept.sort(key=order)
    if session.argument(context.action, "allowWholeBundle", True) is False:
        kept = [bundle for bundle in kept if not bundle.whole]
    return kept


def candidates(session: Session, context: EvictionContext, names: list[str]) -> dict[str, list[Task]]:
    """Tasks that might be evicted, by job."""
    found: dict[str, list[Task]] = {}
    for name in names:
        for task in session.nodes[name].tasks():
            job = session.jobs.get(task.job_key)
            if job is None or job is context.job or not task.preemptable or not job.gang_evictable:
                continue
            if context.action == "gangpreempt":
                same_queue = job.queue == context.job.queue
                good = task.status in ("Bound", "Running") and same_queue and job.priority < context.job.priority
            else:
                other_queue = job.queue != context.job.queue
                good = task.status == "Running" and other_queue and session.queues[job.queue].reclaimable
            if good:
                found.setdefault(job.key, []).append(task)
    return found


def split(job: Job, tasks: list[Task]) -> list[Bundle]:
    """What the gang can spare goes into a safe bundle, the rest into a whole one (spec 04 §9.3)."""
    surplus = job.ready_count() - job.minimum
    if surplus < 0:
        return [Bundle(job, False, tasks)]
    roles = {role: job.role_count(role, READY) for role in job.role_minimum}
    groups = _GroupSlack(job)
    safe, whole = [], []
    for task in tasks:
        good = surplus > 0
        if good and job.minimum >= job.role_minimum_sum and task.role in job.role_minimum:
            good = roles[task.role] > job.role_minimum[task.role]
        if good and job.policies:
            good = groups.can_spare(task)
        if not good:
            whole.append(task)
            continue
        safe.append(task)
        surplus -= 1
        if task.role in roles:
            roles[task.role] -= 1
        if job.policies:
            groups.take(task)
    return [Bundle(job, is_whole, part) for is_whole, part in ((False, safe), (True, whole)) if part]


class _GroupSlack:
    """How many ready sub-jobs each group has above its minimum."""

    def __init__(self, job: Job) -> None:
        self.slack = {
            job.group_key(policy): sum(
                sub_job.group == job.group_key(policy) and sub_job.is_ready() for sub_job in job.sub_jobs.values()
            )
            - (policy.get("minSubGroups") or 0)
            for policy in job.policies
        }
        self.ready = {uid: sub_job.is_ready() for uid, sub_job in job.sub_jobs.items()}
        self.broken: set[str] = set()

    def can_spare(self, task: Task) -> bool:
        sub_job = task.sub_job
        if sub_job is None or sub_job.uid in self.broken or not self.ready[sub_job.uid]:
            return True
        return self.slack.get(sub_job.group, 0) > 0

    def take(self, task: Task) -> None:
        sub_job = task.sub_job
        if sub_job is not None and sub_job.uid not in self.broken and self.ready[sub_job.uid]:
            self.broken.add(sub_job.uid)
            self.slack[sub_job.group] = self.slack.get(sub_job.group, 0) - 1


def _compare(session: Session, context: EvictionContext, need: Resources, left: Bundle, right: Bundle) -> int:
    """Safe before whole, then the lesser job or the queue to lose first, then efficiency (spec 04 §9.3)."""
    if left.whole != right.whole:
        return 1 if left.whole else -1
    if context.action == "gangpreempt":
        if left.job is not right.job:
            return 1 if session.job_less(left.job, right.job) else -1
    elif left.job.queue != right.job.queue:
        left_queue, right_queue = session.queues[left.job.queue], session.queues[right.job.queue]
        own_queue = session.queues[context.job.queue]
        answer = session.first_nonzero("victim_queue_order", left_queue, right_queue, own_queue)
        return answer or (1 if session.queue_less(left_queue, right_queue) else -1)
    left_gain, right_gain = efficiency(left, need), efficiency(right, need)
    if left_gain != right_gain:
        return -1 if left_gain > right_gain else 1
    keys = [(b.job.key, b.tasks[0].uid if b.tasks else "", len(b.tasks)) for b in (left, right)]
    return -1 if keys[0] < keys[1] else int(keys[0] > keys[1])


def efficiency(bundle: Bundle, need: Resources) -> float:
    """What it frees of the need against what the whole gang loses; a safe bundle loses nothing."""
    asked = [name for name in need.dimensions() if need.get(name) > 0]
    freed = total_of(task.request for task in bundle.tasks)
    gain = sum(min(freed.get(name), need.get(name)) / need.get(name) for name in asked)
    lost = total_of(task.request for task in bundle.job.tasks) if bundle.whole else Resources()
    loss = sum(lost.get(name) / need.get(name) for name in asked)
    return gain / loss if loss else float("inf")
