"""Jobs in the dump (spec 02 §19, 01 §3). Tasks stand in `Tasks` whole; `TaskStatusIndex` has their uids."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vcsched.cache.dumper.nodes import task_document
from vcsched.cache.dumper.values import Resources, as_set, wire
from vcsched.kube.keys import JDB_MAX_UNAVAILABLE, JDB_MIN_AVAILABLE
from vcsched.model import podflags
from vcsched.model.status import DUMP_CODE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vcsched.cache.picture import Picture
    from vcsched.model.job import Job
    from vcsched.model.subjob import SubJob
    from vcsched.model.task import Task

NANOSECONDS = 1_000_000_000


def job_document(picture: Picture, job: Job, resources: Resources) -> dict[str, Any]:
    """A PodGroup with its tasks, counts and sums."""
    obj, table, row = job.obj, picture.job_table, job.row
    meta = obj.metadata if obj is not None else None
    notes = meta.annotations if meta is not None else {}
    return {
        "UID": job.key,
        "PgUID": job.uid,
        "Name": job.name,
        "Namespace": job.namespace,
        "Queue": job.queue_name,
        "Priority": job.priority,
        "MinAvailable": job.min_available,
        "WaitingTime": None if job.waiting_time is None else int(job.waiting_time * NANOSECONDS),
        "JobFitErrors": job.refusal[1] if job.refusal else "",
        "NodesFitErrors": {uid: fit.text for uid, fit in job.fit_errors.items()},
        "AllocatedHyperNode": job.allocated_hypernode,
        "NetworkTopology": wire(job.topology) if job.topology is not None else None,
        "SubJobs": {key: _sub_job(sub) for key, sub in job.subjobs.items()},
        "TaskToSubJob": {uid: task.subjob.key for uid, task in job.tasks.items() if task.subjob is not None},
        "MinSubJobs": {f"{job.key}/{p.name}": p.min_sub_groups or 0 for p in job.policies},
        "TaskStatusIndex": _by_status(job.tasks.values()),
        "Tasks": {uid: task_document(task, resources) for uid, task in job.tasks.items()},
        "TaskMinAvailable": job.role_minimum,
        "TaskMinAvailableTotal": job.role_minimum_total,
        "Allocated": resources.row(table.alloc, row),
        "TotalRequest": resources.row(table.total, row),
        "CreationTimestamp": meta.creation_timestamp if meta is not None else None,
        "PodGroup": wire(obj) if obj is not None else None,
        "ScheduleStartTimestamp": None,
        "Preemptable": job.preemptable,
        "RevocableZone": podflags.revocable_zone(meta) if meta is not None else "",
        "Budget": {
            "MinAvailable": notes.get(JDB_MIN_AVAILABLE, ""),
            "MaxUnavilable": "" if JDB_MIN_AVAILABLE in notes else notes.get(JDB_MAX_UNAVAILABLE, ""),
        },
    }


def _sub_job(sub: SubJob) -> dict[str, Any]:
    return {
        "UID": sub.key,
        "Job": sub.job.key,
        "MatchIndex": sub.match_index,
        "MinAvailable": sub.min_available,
        "Priority": sub.priority,
        "AllocatedHyperNode": sub.allocated_hypernode,
        "NominatedHyperNode": sub.nominated_hypernode,
        "NetworkTopology": wire(sub.topology) if sub.topology is not None else None,
        "TaskStatusIndex": _by_status(sub.tasks.values()),
    }


def _by_status(tasks: Iterable[Task]) -> dict[str, dict[str, Any]]:
    index: dict[str, list[str]] = {}
    for task in tasks:
        index.setdefault(str(DUMP_CODE[task.status]), []).append(task.uid)
    return {code: as_set(uids) for code, uids in index.items()}
