"""What the scheduler knows about one PodGroup, as plain values: the answer to the question "explain".

Between two sessions everything is as the last one left it, so nothing is computed anew and nobody waits: the
reason is the one that stands in the condition and the event. How it is shown is `cli.explain`'s business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vcsched.framework import explain
from vcsched.model import readiness, resources
from vcsched.model.status import NAMES, STATUSES

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.framework.scheduler import Scheduler
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue


def podgroup(cache: SchedulerCache, scheduler: Scheduler, args: Mapping[str, Any]) -> dict[str, Any] | None:
    """The PodGroup with key `args["key"]` ("namespace/name"); None if there is none."""
    job = cache.picture.jobs.get(args["key"])
    if job is None:
        return None
    why = explain.why(scheduler, job)
    return {
        "podGroup": job.key,
        "inCacheOnly": job.bare,
        "queue": job.queue_name,
        "priority": job.priority,
        "phase": job.phase or "Pending",
        "ageSeconds": round(max(0.0, cache.clock() - job.created)) if job.created else None,
        "gang": _gang(job),
        "why": {"stage": why.stage, "sentence": why.sentence} if why is not None else None,
        "nodes": _nodes(job),
        "queueUsage": _usage(cache, job.queue) if job.queue is not None else None,
    }


def _gang(job: Job) -> dict[str, Any]:
    statuses = {NAMES[status].lower(): job.counts[status] for status in range(STATUSES) if job.counts[status]}
    return {
        "needs": job.min_available,
        "created": readiness.valid(job.counts),
        "placed": readiness.ready(job.counts),
        "gated": job.gated_count,
        "statuses": statuses,
    }


def _nodes(job: Job) -> dict[str, Any] | None:
    """How many nodes were examined and what stood against them, for the kind of pod that failed most often."""
    records = Counter(job.fit_errors[uid] for uid in job.fit_errors if uid in job.tasks)
    if not records:
        return None
    fit = records.most_common(1)[0][0]
    reasons = sorted(fit.counts.items(), key=lambda item: (-item[1], item[0]))
    return {"examined": fit.n, "reasons": [{"reason": reason, "nodes": count} for reason, count in reasons]}


def _usage(cache: SchedulerCache, queue: Queue) -> dict[str, Any]:
    """What the queue holds, and its limits where the Queue has some; amounts as quantities."""
    table = cache.picture.queue_table
    held, limit = table.amounts_of("charged", queue.row), resources.amounts(queue.obj.spec.capability or {})
    deserved = resources.amounts(queue.obj.spec.deserved or {})
    names = resources.in_order({"cpu", "memory", *held, *limit, *deserved} - {"pods"})
    rows = []
    for name in names:
        row = {"resource": name, "used": resources.human(name, held.get(name, 0.0))}
        for key, given in (("limit", limit), ("deserved", deserved)):
            if name in given:
                row[key] = resources.human(name, given[name])
        rows.append(row)
    return {"weight": queue.weight, "resources": rows}
