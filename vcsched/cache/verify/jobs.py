"""Jobs: counts, tallies, sub-jobs, index sets and sums, from their tasks and PodGroups (design-notes §4, 1 and 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.cache.accounting import CHARGED, HOLDS, REQUESTED
from vcsched.cache.contributions import contribution
from vcsched.cache.verify.differences import Recomputed, same, same_objects
from vcsched.kube.keys import QUEUE_ALLOCATION_GATE
from vcsched.model.status import PENDING, RELEASING, STATUSES
from vcsched.model.subgroups import assignment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vcsched.cache.picture import Picture
    from vcsched.model.job import Job
    from vcsched.model.task import Counts, Task

_INDEXES = ("attached", "waiting_admission", "placeable", "best_effort")


def verify_jobs(picture: Picture, *, inside_session: bool) -> None:
    """Every job, every column of the job table, and the sets that say which jobs a session looks at."""
    table = picture.job_table
    names = {job.row: key for key, job in picture.jobs.items()}
    same("job table", "rows in use", table.in_use, len(names))
    same("job table", "one row a job", len(names), len(picture.jobs))

    members: dict[str, dict[str, Task]] = {key: {} for key in picture.jobs}
    for uid, task in picture.tasks.items():
        if task.job_key:
            members[task.job_key][uid] = task
    fresh = Recomputed(table, lambda row: f"job {names.get(row, f'of row {row}, which is gone')}")
    for key, job in picture.jobs.items():
        same(f"job {key}", "key", job.key, key)
        same(f"job {key}", "kept although empty", job.obj is None and not job.tasks, False)
        same_objects(f"job {key}", "tasks", job.tasks, members[key])
        _verify_counts(job)
        _verify_rules(picture, job)
        _recompute(picture, job, fresh)
    fresh.compare()
    if not inside_session:
        same("job table", "charged = alloc outside a session", bool((table.charged == table.alloc).all()), True)
    _verify_indexes(picture)
    for key, job in picture.jobs.items():
        if job.queue is not None and key not in picture.stale_contributions:
            same(f"job {key}", "contribution", job.contribution, contribution(job, picture))


# ---------------------------------------------------------------- one job


def _tally(tasks: Iterable[Task]) -> Counts:
    counts = [0] * (STATUSES + 1)
    for task in tasks:
        counts[task.status] += 1
        counts[STATUSES] += task.status == PENDING and task.best_effort
    return counts


def _verify_counts(job: Job) -> None:
    who, tasks = f"job {job.key}", job.tasks.values()
    pending = {uid: task for uid, task in job.tasks.items() if task.status == PENDING}
    same_objects(who, "pending", job.pending, pending)
    same(who, "counts", job.counts, _tally(tasks))
    same(who, "placeable", job.placeable, sum(1 for t in pending.values() if not t.best_effort and not t.gated))
    same(who, "gated_count", job.gated_count, sum(1 for t in tasks if t.gated))
    leaving = sum(1 for t in tasks if t.status == RELEASING and t.node is not None)
    same(who, "releasing_placed", job.releasing_placed, leaving)
    for role, counts in job.role_counts.items():
        same(who, f"counts of role {role}", counts, _tally(t for t in tasks if t.role == role))

    expected: dict[str, dict[str, Task]] = {}
    for uid, task in job.tasks.items():
        policy, key, _ = assignment(job.key, job.policies, task.pod.metadata.labels)
        expected.setdefault(key, {})[uid] = task
        same(f"task {task.key}", "sub-job", task.subjob, job.subjobs.get(key))
        same(f"sub-job {key}", "policy", job.subjobs[key].policy, policy)
        same(f"task {task.key}", "role among the job's", task.role in job.role_counts, True)
        tallies = (job.counts, job.subjobs[key].counts, job.role_counts[task.role])
        same(f"task {task.key}", "tallies", [id(t) for t in task.tallies], [id(t) for t in tallies])
    for key, sub in job.subjobs.items():
        there = expected.get(key, {})
        same_objects(f"sub-job {key}", "tasks", sub.tasks, there)
        same(f"sub-job {key}", "counts", sub.counts, _tally(there.values()))
        if not sub.policy:
            minimum = 1 if job.policies else job.min_available
            same(f"sub-job {key}", "min_available", sub.min_available, minimum)


def _verify_rules(picture: Picture, job: Job) -> None:
    """What is derived from the PodGroup and from other objects with it."""
    who, obj = f"job {job.key}", job.obj
    wanted = picture.queues.get(job.queue_name) if obj is not None or job.bare else None
    same(who, "queue", job.queue, wanted)
    if obj is not None or job.bare:
        same(who, "priority", job.priority, picture.job_priority(job.priority_class))
    if obj is None:
        same(who, "min_available without PodGroup", job.min_available, int(job.bare))
        return
    same(who, "bare, with a PodGroup", job.bare, False)
    same(who, "uid", job.uid, obj.metadata.uid)
    same(who, "min_available", job.min_available, max(0, obj.spec.min_member))
    same(who, "policies", job.policies, obj.spec.sub_group_policy)
    same(who, "priority_class", job.priority_class, obj.spec.priority_class_name)
    if obj.spec.queue:
        same(who, "queue_name", job.queue_name, obj.spec.queue)


def _recompute(picture: Picture, job: Job, fresh: Recomputed) -> None:
    row = job.row
    for task in job.tasks.values():
        items = task.request.items
        fresh.add("total", row, items)
        for name, counts in (("alloc", HOLDS), ("charged", CHARGED), ("requested", REQUESTED)):
            if counts[task.status]:
                fresh.add(name, row, items)
        if any(gate != QUEUE_ALLOCATION_GATE for gate in task.gates):
            fresh.add("gated", row, items)
    index = picture.space.index
    fresh.add("minimum", row, [(index[name], amount) for name, amount in (job.min_resources or {}).items()])


# ---------------------------------------------------------------- sets of jobs


def _verify_indexes(picture: Picture) -> None:
    expected: dict[str, dict[str, Job]] = {name: {} for name in _INDEXES}
    waiting: dict[str, dict[str, Job]] = {}
    for key, job in picture.jobs.items():
        if job.queue is None:
            if job.obj is not None or job.bare:
                waiting.setdefault(job.queue_name, {})[key] = job
            continue
        expected["attached"][key] = job
        if job.phase in ("", "Pending"):
            expected["waiting_admission"][key] = job
        pending = [task for task in job.tasks.values() if task.status == PENDING]
        if any(not task.best_effort and not task.gated for task in pending):
            expected["placeable"][key] = job
        if any(task.best_effort for task in pending):
            expected["best_effort"][key] = job
    for name, jobs in expected.items():
        same_objects("index sets", name, getattr(picture, name), jobs)
    same("jobs without queue", "queue names", set(picture.jobs_without_queue), set(waiting))
    for name, jobs in waiting.items():
        same_objects(f"queue {name}, which has not come", "jobs", picture.jobs_without_queue[name], jobs)
    for name in ("touched", "stale_contributions"):
        for key, job in getattr(picture, name).items():
            same("index sets", f"{name}: {key}", picture.jobs.get(key), job)
