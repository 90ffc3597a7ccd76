"""Jobs and their sub-jobs: made, filled from PodGroups, attached to queues (spec 01 §3-4, 02 §10.6).

A job exists from its first pod or PodGroup until both are gone. Derived values have several parents
(PodGroup, PriorityClass, queue, pods); each parent's change comes through here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.kube.keys import GROUP_NAME, QUEUE_NAME
from vcsched.model import podflags, resources
from vcsched.model.job import Job
from vcsched.model.quantity import MOST, QuantityError
from vcsched.model.status import PENDING, STATUSES
from vcsched.model.subgroups import assignment
from vcsched.model.subjob import SubJob

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.columns.space import Space
    from vcsched.kube.objects import PodGroup
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task


class Groups:
    """Keeps jobs, sub-jobs and their attachment in step with PodGroups, queues and priority classes."""

    def __init__(self, cache: SchedulerCache) -> None:
        self._cache = cache
        self._picture = cache.picture
        self._accounting = cache.accounting

    # -- life of a job

    def job(self, key: str) -> Job:
        """The job of this key, made when it is new."""
        job = self._picture.jobs.get(key)
        if job is None:
            job = self._picture.jobs[key] = Job(key, self._picture.job_table.new_row())
        return job

    def drop_if_empty(self, job: Job) -> None:
        """Forget a job that has neither PodGroup nor pods."""
        if job.obj is not None or job.tasks:
            return
        self._accounting.detach(job)
        self._forget_waiting(job)
        picture = self._picture
        del picture.jobs[job.key]
        picture.touched.pop(job.key, None)
        picture.stale_contributions.pop(job.key, None)
        picture.job_table.free(job.row)
        self._cache.gone_jobs.append(job)

    def apply(self, obj: PodGroup) -> Job:
        """A PodGroup was added or changed."""
        job = self.job(f"{obj.metadata.namespace}/{obj.metadata.name}")
        meta, spec = obj.metadata, obj.spec
        first = job.obj is None
        policies_changed = first or spec.sub_group_policy != job.policies
        job.obj = obj
        job.bare = False
        job.uid = meta.uid
        job.created = meta.creation_timestamp.timestamp() if meta.creation_timestamp else 0.0
        minimum_changed = job.min_available != spec.min_member
        job.min_available = max(0, spec.min_member)
        job.role_minimum = {role: max(0, minimum) for role, minimum in spec.min_task_member.items()}
        job.topology = spec.network_topology
        job.policies = spec.sub_group_policy
        job.priority_class = spec.priority_class_name
        job.priority = self._picture.job_priority(job.priority_class)
        job.preemptable = podflags.group_preemptable(meta)
        job.waiting_time = podflags.group_waiting_time_s(meta)
        self._set_minimum(job)
        if policies_changed or minimum_changed:
            self.rebuild_subjobs(job)
        if not job.status_write:
            job.phase = obj.status.phase
        queue = job.queue
        self.place_in_queue(job, spec.queue or self._cache.options.default_queue)
        if job.queue is queue:  # else that was done when it was attached
            self._accounting.index(job)
            self._accounting.touch(job)
        return job

    def remove(self, job: Job) -> None:
        """The PodGroup is gone; its pods stay until they go themselves."""
        self._accounting.detach(job)
        self._forget_waiting(job)
        self._accounting.touch(job)
        job.obj = None
        job.forget_sent()  # that was about this PodGroup; the next one of the name has its own status
        job.uid, job.phase, job.priority_class, job.priority = "", "", "", 0
        job.min_available, job.min_resources, job.waiting_time, job.preemptable = 0, None, None, False
        job.role_minimum, job.policies, job.topology = {}, (), None
        self._picture.job_table.minimum[:, job.row] = 0.0
        self.rebuild_subjobs(job)
        for task in job.tasks.values():
            self.make_bare(job, task)
        self.drop_if_empty(job)

    def make_bare(self, job: Job, task: Task) -> None:
        """Give the job of a pod that names no PodGroup its life in the cache: minimum 1, admitted at once."""
        meta = task.pod.metadata
        if job.obj is None and not job.bare and not meta.annotations.get(GROUP_NAME):
            job.bare = True
            job.min_available = 1
            job.created = task.created
            job.priority_class = task.pod.spec.priority_class_name
            job.priority = self._picture.job_priority(job.priority_class)
            self.rebuild_subjobs(job)
            self.place_in_queue(job, meta.annotations.get(QUEUE_NAME) or self._cache.options.default_queue)

    # -- queue

    def place_in_queue(self, job: Job, name: str) -> None:
        """Attach a job to a queue, or remember that it waits for one."""
        self._forget_waiting(job)
        job.queue_name = name
        queue = self._picture.queues.get(name)
        if job.queue is not queue or queue is None:
            self._accounting.detach(job)
            if queue is not None:
                self._accounting.attach(job, queue)
        if queue is None:
            self._picture.jobs_without_queue.setdefault(name, {})[job.key] = job
            self._picture.touched[job.key] = job

    def queue_came(self, queue: Queue) -> None:
        for job in self._picture.jobs_without_queue.pop(queue.name, {}).values():
            self._accounting.attach(job, queue)

    def queue_gone(self, queue: Queue) -> None:
        for job in list(queue.jobs.values()):
            self.place_in_queue(job, queue.name)

    def _forget_waiting(self, job: Job) -> None:
        waiting = self._picture.jobs_without_queue.get(job.queue_name)
        if waiting is not None:
            waiting.pop(job.key, None)
            if not waiting:
                del self._picture.jobs_without_queue[job.queue_name]

    # -- priority

    def priorities_changed(self) -> None:
        """A PriorityClass came, changed or went."""
        for job in self._picture.jobs.values():
            priority = self._picture.job_priority(job.priority_class)
            if priority != job.priority and (job.obj is not None or job.bare):
                job.priority = priority
                self._accounting.touch(job)

    # -- sub-jobs and tasks

    def join(self, task: Task, job: Job) -> None:
        """Give a task its job, sub-job and the lists that count it. The caller then adds or moves it."""
        task.job = job
        self._join_subjob(task, job)

    def _join_subjob(self, task: Task, job: Job) -> None:
        policy, key, index = assignment(job.key, job.policies, task.pod.metadata.labels)
        sub = job.subjobs.get(key)
        if sub is None:
            sub = job.subjobs[key] = self._new_subjob(job, policy, key, index)
        role = job.role_counts.get(task.role)
        if role is None:
            role = job.role_counts[task.role] = [0] * (STATUSES + 1)
        task.subjob = sub
        task.tallies = (job.counts, sub.counts, role)

    def _new_subjob(self, job: Job, policy: str, key: str, index: int) -> SubJob:
        if policy:
            rule = next(p for p in job.policies if p.name == policy)
            return SubJob(job, key, policy, rule.sub_group_size or 1, index, rule.network_topology)
        return SubJob(job, key, "", 1 if job.policies else job.min_available, index, job.topology)

    def rebuild_subjobs(self, job: Job) -> None:
        """Derive all sub-jobs anew, as the minimum or the policies changed; sums of the job stay."""
        job.subjobs = {}
        job.role_counts = {}
        for task in job.tasks.values():
            self._join_subjob(task, job)
            best_effort = task.best_effort and task.status == PENDING
            for tally in task.tallies[1:]:
                tally[task.status] += 1
                tally[STATUSES] += best_effort
            assert task.subjob is not None
            task.subjob.tasks[task.uid] = task

    def _set_minimum(self, job: Job) -> None:
        """Read spec.minResources into the job's column; an unreadable list counts as nothing asked."""
        assert job.obj is not None
        minimum = minimum_of(job.obj, self._picture.space)[0]
        table, column = self._picture.job_table, self._picture.space.column
        if job.min_resources:
            table.minimum[:, job.row] = 0.0
        for name, amount in minimum.items():
            number = column(name)
            table.minimum_cells[number][job.row] = amount
        job.min_resources = minimum if job.obj.spec.min_resources is not None else None


def minimum_of(obj: PodGroup, space: Space) -> tuple[resources.Amounts, str]:
    """spec.minResources as amounts, and what is wrong with it or "". More than can be counted is what can."""
    if not obj.spec.min_resources:
        return {}, ""
    try:
        asked = resources.amounts(obj.spec.min_resources)
        if excess := space.excess(asked):
            return {}, f"spec.minResources: {excess} is one kind of resource too many; ignored until changed"
        if any(not -MOST <= amount <= MOST for amount in asked.values()):
            asked = {name: max(-MOST, min(MOST, amount)) for name, amount in asked.items()}
        return asked, ""
    except QuantityError as error:
        return {}, f"spec.minResources: {error}; ignored until changed"
