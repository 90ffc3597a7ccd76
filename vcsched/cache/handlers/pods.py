"""Pods: tasks come, change and go (spec 02 §10.1, 01 §2).

A pod is kept when one of our schedulers shall place it, or when it sits on a node. What this scheduler
has decided and the API server has not confirmed yet (binding, eviction) is not undone by an older event.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.kube.keys import GROUP_NAME
from vcsched.model import podflags
from vcsched.model.quantity import QuantityError
from vcsched.model.requests import resize_is_infeasible
from vcsched.model.status import (
    BOUND,
    FAILED,
    PENDING,
    RELEASING,
    RUNNING,
    SUCCEEDED,
    TERMINATED,
    UNKNOWN,
)  # fmt: skip
from vcsched.model.task import Task

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.kube.objects import Pod
    from vcsched.model.node import Node

_FINISHED = {"Succeeded": SUCCEEDED, "Failed": FAILED}


def status_of(pod: Pod) -> int:
    """The status that the API object alone gives (spec 01 §2.6)."""
    phase = pod.status.phase
    if phase in _FINISHED:
        return _FINISHED[phase]
    if phase not in ("Pending", "Running"):
        return UNKNOWN
    if pod.metadata.deletion_timestamp is not None:
        return RELEASING
    if phase == "Running":
        return RUNNING
    return BOUND if pod.spec.node_name else PENDING


def upsert(cache: SchedulerCache, pod: Pod) -> None:
    """A pod was added or changed."""
    uid = pod.metadata.uid
    known = cache.picture.tasks.get(uid)
    ours = pod.spec.scheduler_name in cache.options.scheduler_names
    if not ours and not pod.spec.node_name:
        if known is not None:
            _remove(cache, known)
        return
    if known is None:
        _add(cache, pod, ours)
    else:
        _update(cache, known, pod, ours)


def delete(cache: SchedulerCache, key: str, uid: str) -> None:
    """A pod is gone. Looked up by uid, so that a successor of the same name is safe."""
    known = cache.picture.tasks.get(uid)
    if known is not None:
        _remove(cache, known)


def _add(cache: SchedulerCache, pod: Pod, ours: bool) -> None:
    _insert(cache, build(cache, pod, ours), status_of(pod))


def _update(cache: SchedulerCache, task: Task, pod: Pod, ours: bool) -> None:
    old, status = task.pod, status_of(pod)
    unconfirmed = _is_unconfirmed(task, pod, status)
    if unconfirmed:
        status = task.status
    terminating = (pod.metadata.deletion_timestamp is None) != (old.metadata.deletion_timestamp is None)
    same_labels = pod.metadata.labels == old.metadata.labels
    if not (pod.spec == old.spec and same_labels and _same_flags(old, pod) and _same_reports(old, pod)):
        fresh = build(cache, pod, ours)
        if not (same_labels and _reads_alike(task, fresh)):
            _read_anew(cache, task, fresh, status, unconfirmed=unconfirmed)
            return
        task.match_version = -1  # its owner decides among which pods it is spread
    task.pod = pod
    _tell_flaw(cache, task)
    if terminating:
        cache.picture.counters.terminating(task)
    if not unconfirmed and (status != task.status or task.assumed or task.node_name != pod.spec.node_name):
        _unpark(cache, task)
        task.node_name = pod.spec.node_name
        _move(cache, task, status)


def _is_unconfirmed(task: Task, pod: Pod, status: int) -> bool:
    """Whether the pod does not show yet what was assumed: our binding or eviction is on its way."""
    if not task.assumed:
        return False
    return (status == PENDING and not pod.spec.node_name) or (task.status == RELEASING and status in (BOUND, RUNNING))


def _reads_alike(task: Task, fresh: Task) -> bool:
    """Whether the pod, read again, gives the same task; only status and node may differ."""
    return (
        fresh.form is task.form
        and fresh.job_key == task.job_key
        and (fresh.priority, fresh.role, fresh.gates, fresh.preemptable)
        == (task.priority, task.role, task.gates, task.preemptable)
    )


READ = (
    "best_effort", "form", "gated", "gates", "job_key", "pod", "preemptable", "priority", "request", "role",
)  # fmt: skip
"""What a task has from reading its pod; status and node may be ahead of it."""


def _read_anew(cache: SchedulerCache, task: Task, fresh: Task, status: int, *, unconfirmed: bool) -> None:
    """The pod says something else about itself: the task is taken out, changed, and put back in. It stays the
    same object, since writes on their way know it."""
    job = task.job
    _remove(cache, task, dropping=False)
    for field in READ:
        setattr(task, field, getattr(fresh, field))
    task.job, task.subjob, task.tallies, task.match_version, task.attempt = None, None, (), -1, None
    if not unconfirmed:
        task.node_name, task.assumed, task.write = fresh.node_name, False, 0
    _insert(cache, task, status)
    if job is not None and job is not task.job:
        cache.groups.drop_if_empty(job)


def _same_flags(old: Pod, new: Pod) -> bool:
    a, b = old.metadata, new.metadata
    return a.annotations == b.annotations and a.owner_references == b.owner_references


def _same_reports(old: Pod, new: Pod) -> bool:
    """Whether the kubelet says the same about what the containers have: a request counts that, too."""
    a, b = old.status, new.status
    return (
        a.container_statuses == b.container_statuses
        and a.init_container_statuses == b.init_container_statuses
        and (a.conditions == b.conditions or resize_is_infeasible(old) == resize_is_infeasible(new))
    )


def _move(cache: SchedulerCache, task: Task, status: int) -> None:
    """The same pod with another status, node, or a confirmation of what was assumed."""
    task.assumed = False
    task.attempt = None
    task.write = 0
    _unpark(cache, task)
    node = _node(cache, task, status)
    cache.accounting.place(task, status, node)
    if task.job is not None:
        cache.accounting.touch(task.job)


def build(cache: SchedulerCache, pod: Pod, ours: bool) -> Task:
    """A task from a pod. A request that cannot be read is said once, and counts as asking for nothing but a
    place: such a pod is held back while pending, and still occupies its node while running."""
    flaw = ""
    try:
        request = cache.forms.request(pod)
    except QuantityError as error:
        flaw = f"resource requests: {error}; the pod is not scheduled until it is made anew"
        request = cache.forms.nothing_asked()
    task = Task(pod, request, cache.forms.form(pod, request))
    task.priority = podflags.task_priority(pod)
    task.preemptable = podflags.preemptable(pod)
    task.role = podflags.role(pod)
    task.gates = podflags.gates(pod)
    task.gated = bool(task.gates)
    task.index = podflags.name_index(pod.metadata.name)
    group = pod.metadata.annotations.get(GROUP_NAME, "")
    if group:
        task.job_key = f"{pod.metadata.namespace}/{group}"
    elif ours and cache.options.bare_pods:
        task.job_key = f"{pod.metadata.namespace}/{podflags.bare_group_name(pod)}"
    if flaw and ours:
        task.gates = (UNREADABLE, flaw)
        task.gated = True
    return task


UNREADABLE = "unreadable"
"""Stands first among the gates of a task whose pod cannot be read, so that no action takes it up; then why."""


def _tell_flaw(cache: SchedulerCache, task: Task) -> None:
    """Say what is wrong with a pod that cannot be read: in the log, and on the pod while it waits."""
    if task.gates[:1] == (UNREADABLE,):
        flaw = task.gates[1]
        cache.refuse_named("Pod", task.key, flaw)
        if task.status == PENDING:
            cache.status_writer.mark(task, "Unschedulable", flaw)


def _insert(cache: SchedulerCache, task: Task, status: int) -> None:
    picture = cache.picture
    picture.tasks[task.uid] = task
    if task.job_key:
        job = cache.groups.job(task.job_key)
        cache.groups.make_bare(job, task)
        cache.groups.join(task, job)
    cache.accounting.add_task(task, status, _node(cache, task, status))
    _tell_flaw(cache, task)


def _remove(cache: SchedulerCache, task: Task, *, dropping: bool = True) -> None:
    picture = cache.picture
    cache.accounting.remove_task(task)
    del picture.tasks[task.uid]
    _unpark(cache, task)
    if dropping and task.job is not None:
        cache.groups.drop_if_empty(task.job)


def _unpark(cache: SchedulerCache, task: Task) -> None:
    """The task waits for its node no longer, or for another one."""
    parked = cache.picture.tasks_without_node
    waiting = parked.get(task.node_name)
    if waiting is not None:
        waiting.pop(task.uid, None)
        if not waiting:
            del parked[task.node_name]


def _node(cache: SchedulerCache, task: Task, status: int) -> Node | None:
    """The node that the task sits on now; finished tasks take no room. A task whose node has not come yet
    waits for it (spec 02 §10.1)."""
    name = task.node_name
    if not name or status in TERMINATED:
        return None
    node = cache.picture.nodes_by_name.get(name)
    if node is None:
        cache.picture.tasks_without_node.setdefault(name, {})[task.uid] = task
    return node


def rebuild(cache: SchedulerCache, task: Task) -> None:
    """Read a pod anew, as the rules of reading changed."""
    _remove(cache, task)
    upsert(cache, task.pod)


def resources_came(cache: SchedulerCache) -> None:
    """Nodes offer resources that nobody had heard of: pods that could not be read for them may be readable."""
    for task in list(cache.picture.tasks.values()):
        if task.gates[:1] == (UNREADABLE,):
            fresh = build(cache, task.pod, ours=True)
            if fresh.gates != task.gates:
                cache.refused.pop(("Pod", task.key), None)
                _read_anew(cache, task, fresh, task.status, unconfirmed=False)


def revert(cache: SchedulerCache, task: Task) -> None:
    """What was assumed about a task did not come true: it is what its pod says."""
    if task.uid in cache.picture.tasks:
        _unpark(cache, task)
        task.node_name = task.pod.spec.node_name
        _move(cache, task, status_of(task.pod))
