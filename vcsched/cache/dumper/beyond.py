"""The seventh document: what the reference's six do not show, and what explains our own decisions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from vcsched.cache.dumper.jobs import job_document
from vcsched.cache.dumper.nodes import task_document
from vcsched.cache.dumper.values import Resources, as_set, wire
from vcsched.model.status import NAMES

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.cache.picture import Picture
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue

_SUMS = ("alloc", "requested", "inqueue", "admitted", "running_reserve", "elastic")


def beyond(cache: SchedulerCache, resources: Resources) -> dict[str, Any]:
    """Queues, what takes no part and why, what is under way, who went for whom, and why each waiting job waits."""
    picture = cache.picture
    refused: dict[str, dict[str, str]] = {}
    for (kind, key), reason in cache.refused.items():
        refused.setdefault(kind, {})[key] = reason
    return {
        "Queues": {name: _queue(picture, queue, resources) for name, queue in picture.queues.items()},
        "JobsWithoutQueueOrPodGroup": {
            key: job_document(picture, job, resources)
            for key, job in picture.jobs.items()
            if key not in picture.attached
        },
        "ForeignTasksWithoutNode": {
            name: {task.key: task_document(task, resources) for task in tasks.values() if not task.job_key}
            for name, tasks in picture.tasks_without_node.items()
        },
        "NodesNotSeen": {
            name: as_set(task.key for task in tasks.values()) for name, tasks in picture.tasks_without_node.items()
        },
        "Refused": refused,
        "WaitingJobs": {key: _waiting(job) for key, job in picture.attached.items() if not job.is_ready()},
        "Evictions": [
            {
                "At": e.at,
                "Pod": e.pod,
                "Job": e.job,
                "Queue": e.queue,
                "Reason": e.reason,
                "For": e.beneficiary,
                "ForQueue": e.to_queue,
                "Outcome": e.outcome,
            }
            for e in cache.evictor.ledger.latest
        ],
        "EvictionsRefused": {
            r.pod: {"Times": r.times, "NotBefore": r.until, "Reason": r.reason}
            for uid, r in cache.evictor.ledger.refusals.items()
            if uid in picture.tasks
        },
        "WritesInFlight": {
            "Count": cache.writes_in_flight,
            "Tasks": {
                task.key: {"Number": task.write, "Status": NAMES[task.status], "NodeName": task.node_name}
                for task in picture.tasks.values()
                if task.assumed
            },
            "PodGroups": {key: job.status_write for key, job in picture.jobs.items() if job.status_write},
        },
        "Synced": sorted(kind.__name__ for kind in cache.synced),
        "Changes": picture.changes,
    }


def _queue(picture: Picture, queue: Queue, resources: Resources) -> dict[str, Any]:
    table = picture.queue_table
    sums = {name.title().replace("_", ""): resources.row(getattr(table, name), queue.row) for name in _SUMS}
    return {"Name": queue.name, "Queue": wire(queue.obj), "Jobs": as_set(queue.jobs), **sums}


def _waiting(job: Job) -> dict[str, Any]:
    """Why a job is not ready: what refused it, and up to when it need not be tried again."""
    blocked = job.blocked
    return {
        "Phase": job.phase,
        "Counts": {name: count for name, count in zip(NAMES, job.counts, strict=False) if count},
        "Refusal": {"Stage": job.refusal[0], "Reason": job.refusal[1]} if job.refusal else None,
        "Invalid": job.invalid.message if job.invalid is not None else "",
        "Blocked": {
            "Action": blocked.action,
            "Changes": blocked.changes,
            "Until": blocked.until if math.isfinite(blocked.until) else None,
        }
        if blocked is not None
        else None,
    }
