"""Tasks: each is found where it says it is, and outside sessions nothing is tried any more (design-notes §4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.cache.handlers import pods
from vcsched.cache.verify.differences import same, same_objects
from vcsched.model.status import ALLOCATED, BINDING, NAMES, PENDING, PIPELINED, RELEASING, TERMINATED

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.cache.picture import Picture
    from vcsched.model.task import Task


def verify_tasks(cache: SchedulerCache, *, inside_session: bool) -> None:
    """What every task has read off its pod, its node, job and parking place; session-only state must be gone
    after a session."""
    picture = cache.picture
    parked: dict[str, dict[str, Task]] = {}
    for uid, task in picture.tasks.items():
        who = f"task {task.key}"
        same(who, "uid", uid, task.uid)
        same(who, "best effort", task.best_effort, task.request.best_effort)
        same(who, "gated", task.gated, bool(task.gates))
        job = picture.jobs.get(task.job_key)
        same(who, "job", task.job, job)
        same(who, "among the job's tasks", job is not None, job is not None and job.tasks.get(uid) is task)
        _verify_place(picture, task, who)
        _verify_reading(cache, task, who)
        if task.node is None and task.node_name and task.status not in TERMINATED:
            parked.setdefault(task.node_name, {})[uid] = task
        if not inside_session:
            _verify_settled(task, who)
    same("tasks without node", "node names", set(picture.tasks_without_node), set(parked))
    for name, waiting in parked.items():
        same_objects(f"node {name}, which has not come", "tasks", picture.tasks_without_node[name], waiting)


def _verify_place(picture: Picture, task: Task, who: str) -> None:
    node = task.node
    if node is None:
        return
    same(who, "node", node, picture.nodes_by_name.get(node.name))
    same(who, "among the node's tasks", node.tasks.get(task.uid), task)
    same(who, "on a node although finished", task.status in TERMINATED, False)


def _verify_reading(cache: SchedulerCache, task: Task, who: str) -> None:
    """The pod, read again, gives the same task."""
    fresh = pods.build(cache, task.pod, task.pod.spec.scheduler_name in cache.options.scheduler_names)
    for field in pods.READ:
        same(who, field, getattr(task, field), getattr(fresh, field))
    if task.match_version == cache.picture.counters.version:
        same(who, "match", set(task.shape.match), set(cache.picture.counters.match(task)))
    same(who, "node name", task.node_name, fresh.node_name or (task.node_name if task.assumed else ""))


def _verify_settled(task: Task, who: str) -> None:
    """What is true of every task while no session runs."""
    status = NAMES[task.status]
    same(who, f"status {status} outside a session", task.status in (ALLOCATED, PIPELINED), False)
    same(who, "hidden outside a session", task.hidden, False)
    same(who, "standing operation outside a session", task.op, None)
    same(who, f"attempt, with status {status}", task.attempt is not None and task.status != PENDING, False)
    same(who, "after_eviction outside a session", task.after_eviction, False)
    same(who, f"assumed, with status {status}", task.assumed and task.status not in (BINDING, RELEASING), False)
    same(who, "Binding, but not assumed", task.status == BINDING and not task.assumed, False)
    same(who, "Pending, but on a node", task.status == PENDING and task.node is not None, False)
