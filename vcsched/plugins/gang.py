"""Gangs: a job starts with its minimum of pods or not at all (spec 05 §3).

Says when a job is valid, ready, promised enough and starving, puts jobs that still lack pods first and of them
those whose binding was cut off, lets victims be taken from gangs only as far as they stay above their minimum,
and records at the end of a session what a gang lacks. A gang also has minima of roles and sub-groups; the
limit on victims and the recorded condition look at the number of pods only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vcsched.framework.gangsense import is_whole
from vcsched.framework.plugin import PERMIT, REJECT, Plugin
from vcsched.framework.points import Invalid
from vcsched.model import readiness
from vcsched.model.status import HOLDING, PENDING, PIPELINED

if TYPE_CHECKING:
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.points import EvictionContext
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.subjob import SubJob
    from vcsched.model.task import Task

Victims = tuple[Sequence["Task"], int]


class Gang(Plugin):
    """Keeps the gangs that are below their minimum from session to session; they change with touched jobs."""

    name = "gang"

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self._unready: dict[str, Job] = {}
        self._attached = 0

    def open(self, ssn: Session) -> None:
        ssn.job_valid.add(self, flaw)
        ssn.job_order.add(self, lambda a, b: progress(a) - progress(b), key=progress)
        ssn.sub_job_order.add(self, unready_first)
        ssn.job_ready.add(self, is_whole)
        ssn.sub_job_ready.add(self, lambda sub: sub.is_ready())
        ssn.job_pipelined.add(self, lambda job: PERMIT if is_pipelined(job) else REJECT)
        ssn.sub_job_pipelined.add(self, lambda sub: PERMIT if sub.is_pipelined() else REJECT)
        ssn.job_starving.add(self, lambda job: job.is_starving())
        ssn.preemptable.add(self, above_minimum)
        ssn.reclaimable.add(self, above_minimum)
        ssn.unified_evictable.add(self, whole_gangs)

    def close(self, ssn: Session) -> None:
        """Conditions and metrics of the jobs that changed; the count of unready gangs is kept."""
        for job in ssn.touched.values():
            self._record(ssn, job)
        if ssn.touched or len(ssn.jobs) != self._attached:  # else no job has gone: a new one would be touched
            self._attached = len(ssn.jobs)
            for key in [key for key in self._unready if key not in ssn.jobs]:
                del self._unready[key]
        ssn.metrics.jobs.set_unscheduled_jobs(len(self._unready))

    def _record(self, ssn: Session, job: Job) -> None:
        self._unready.pop(job.key, None)
        if not job.attached or not job.tasks:
            return
        lacking = 0
        if job.is_ready():
            job.torn = False
            ssn.set_condition(job, "Scheduled", "True", "tasks in gang are ready to be scheduled", "")
        elif is_leaving(job):
            return
        else:
            lacking = job.min_available - readiness.ready(job.counts) - placed_in_vain(job)
            message = f"{lacking}/{len(job.tasks)} tasks in gang unschedulable: {ssn.fit_message(job)}"
            ssn.set_condition(job, "Unschedulable", "True", "NotEnoughResources", message)
            self._unready[job.key] = job
            ssn.metrics.jobs.retried(job.name)
        ssn.metrics.jobs.set_unscheduled(job.namespace, job.name, lacking)


def flaw(job: Job) -> Invalid | None:
    """Why a job can never be started as it is now, or None."""
    if job.role_minimum and not job.roles_valid():
        return Invalid("NotEnoughPodsOfTask", "Not enough valid pods of each task for gang-scheduling")
    if job.policies and not job.groups_reach("exists"):
        return Invalid("NotEnoughPodsOfTask", "Not enough valid subGroups of each task for gang-scheduling")
    valid = readiness.valid(job.counts)
    if valid < job.min_available:
        text = f"Not enough valid tasks for gang-scheduling, valid: {valid}, min: {job.min_available}"
        return Invalid("NotEnoughTasks", text)
    return None


def unready_first(a: Job | SubJob, b: Job | SubJob) -> int:
    """What has its minimum comes after what has not."""
    return int(a.is_ready()) - int(b.is_ready())


def progress(job: Job) -> int:
    """0: torn, and holding room that is of no use before it is whole; 1: lacks its minimum; 2: has it."""
    if readiness.counted(job.counts) >= job.min_available:
        return 2
    return 0 if job.torn else 1


def is_pipelined(job: Job) -> bool:
    """Whether the gang is whole with pods that are promised room that is being freed."""
    return job.is_pipelined() and job.roles_pipelined() and job.groups_reach("is_pipelined")


def is_leaving(job: Job) -> bool:
    """Whether the gang is below its minimum only because pods that ran are going, and none waits."""
    counts = job.counts
    return (
        job.releasing_placed > 0
        and not counts[PENDING]
        and not counts[PIPELINED]
        and job.already_scheduled >= job.min_available
    )


def placed_in_vain(job: Job) -> int:
    """Pending tasks for which there was room, in a statement that was undone for lack of the others."""
    return sum(t.attempt is not None and t.attempt.status in HOLDING for t in job.pending.values())


def above_minimum(evictor: Task, candidates: Sequence[Task]) -> Victims:
    """The candidates, in their order, that their gangs can lose."""
    ready: dict[str, int] = {}
    victims = []
    for task in candidates:
        job = task.job
        if job is None or not job.attached:
            continue
        count = ready.get(job.key)
        if count is None:
            count = readiness.ready(job.counts)
        if count > job.min_available:
            count -= 1
            victims.append(task)
        ready[job.key] = count
    return victims, PERMIT


def whole_gangs(evictor: EvictionContext, candidates: Sequence[Task]) -> Victims:
    """The gang actions take whole gangs, or what is above a minimum, by themselves."""
    return candidates, PERMIT
