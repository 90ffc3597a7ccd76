"""The dump in the log: one text a node and a job, and a few numbers (spec 02 §19, last paragraphs)."""

from __future__ import annotations

import gc
import resource
from typing import TYPE_CHECKING

from vcsched.cache.handlers.nodes import oversubscription_of
from vcsched.kube.keys import OFFLINE_JOB_EVICTING, OVERSUBSCRIPTION
from vcsched.model import resources
from vcsched.model.gotext import parse_bool
from vcsched.model.status import NAMES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from vcsched.cache.cache import SchedulerCache
    from vcsched.cache.picture import Picture
    from vcsched.model.job import Job
    from vcsched.model.node import Node
    from vcsched.model.task import Task


def node_text(picture: Picture, node: Node) -> str:
    """A node with its sums and a line a task."""
    obj, table = node.obj, picture.nodes
    sums = {name: resources.spell(table.amounts_of(name, node.row)) for name in ("alloc", "idle", "used", "releasing")}
    taints = [f"{t.key}={t.value}:{t.effect}" for t in obj.spec.taints]
    images = ", ".join(name for image in obj.status.images for name in image.names)
    more = {name: amount for name, amount in oversubscription_of(obj).items() if amount}
    return (
        f"Node ({node.name}): allocatable<{sums['alloc']}> idle <{sums['idle']}>, used <{sums['used']}>, "
        f"releasing <{sums['releasing']}>, oversubscription <{resources.spell(more)}>, state <phase Ready, reason >, "
        f"oversubscriptionNode <{_flag(node.labels.get(OVERSUBSCRIPTION))}>, "
        f"offlineJobEvicting <{_flag(obj.metadata.annotations.get(OFFLINE_JOB_EVICTING))}>, "
        f"taints <{', '.join(taints)}>{_tasks(node.tasks.values())}, imageStates {images or 'none'}"
    )


def job_text(picture: Picture, job: Job) -> str:
    """A job with what it has and a line a task."""
    held = resources.spell(picture.job_table.amounts_of("alloc", job.row))
    lacks = "" if job.queue is not None else " (takes no part)"
    return (
        f"Job ({job.key}): queue {job.queue_name or 'none'}{lacks}, phase {job.phase or 'none'}, "
        f"minAvailable {job.min_available}, allocated <{held}>{_tasks(job.tasks.values())}"
    )


def statistics(cache: SchedulerCache) -> str:
    """How much there is, and how much memory the process has taken at most."""
    picture = cache.picture
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (
        f"{len(picture.nodes_by_name)} nodes, {len(picture.queues)} queues, {len(picture.jobs)} jobs, "
        f"{len(picture.tasks)} tasks, {len(cache.refused)} refused objects, {cache.writes_in_flight} writes in flight; "
        f"peak memory {peak // 1024} MiB, {gc.get_freeze_count()} objects frozen, garbage {gc.get_count()}"
    )


def _tasks(tasks: Iterable[Task]) -> str:
    return "".join(
        f"\n\t {number}: Task ({task.uid}:{task.key}): job {task.job_key or 'none'}, status {NAMES[task.status]}, "
        f"node {task.node_name or 'none'}, pri {task.priority}, resreq {resources.spell(task.request.by_name)}"
        for number, task in enumerate(tasks)
    )


def _flag(text: str | None) -> str:
    return str(parse_bool(text or "") is True).lower()
