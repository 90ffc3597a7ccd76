"""Extension points: which switch turns each on, how several plugins' answers combine (spec 03 §4, §7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .heap import Heap
from .job import Job, SubJob
from .node import Node
from .quantity import integer
from .queue import Queue
from .selectors import Object
from .task import Task

if TYPE_CHECKING:
    from .plugins.base import Plugin

PERMIT, ABSTAIN, REJECT = 1, 0, -1
Vote = int
Reasons = list[tuple[int, str]]  # (status code, text); none means the node passes

# extension point (a plugin's method of that name) -> switches of which one must be on; none = always on
# (spec 03 §7.2)
SWITCHES: dict[str, tuple[str, ...]] = {
    "job_order": ("enableJobOrder",),
    "sub_job_order": ("enabledSubJobOrder",),
    "task_order": ("enableTaskOrder",),
    "queue_order": ("enableQueueOrder",),
    "victim_queue_order": (),
    "job_valid": (),
    "job_enqueueable": ("enableJobEnqueued",),
    "job_enqueued": ("enableJobEnqueued",),
    "job_ready": ("enableJobReady",),
    "sub_job_ready": ("enabledSubJobReady",),
    "job_pipelined": ("enableJobPipelined",),
    "sub_job_pipelined": ("enabledSubJobPipelined",),
    "job_starving": ("enableJobStarving",),
    "overused": ("enabledOverused",),
    "allocatable": ("enabledAllocatable",),
    "preemptive": ("enablePreemptive",),
    "preemptable": ("enablePreemptable",),
    "reclaimable": ("enableReclaimable",),
    "unified_evictable": (),
    "victim_tasks": ("enabledVictim",),
    "pre_predicate": ("enablePredicate",),
    "predicate": ("enablePredicate",),
    "node_order": ("enableNodeOrder",),
    "batch_node_order": ("enableNodeOrder",),
    "gradient": ("enabledHyperNodeGradient",),
    "hyper_node_order": ("enabledHyperNodeOrder",),
    "simulate_allocatable": ("enabledAllocatable",),
    "simulate_predicate": ("enablePredicate",),
    "simulate_add_task": ("enablePreemptable", "enabledAllocatable"),
    "simulate_remove_task": ("enablePreemptable", "enabledAllocatable"),
    "on_allocate": (),
    "on_deallocate": (),
}


class ExtensionPoints:
    """The part of a session that asks the plugins, tier by tier."""

    jobs: dict[str, Job]
    queues: dict[str, Queue]
    tiers: list[list[tuple[Object, Plugin]]]

    def __init__(self) -> None:
        self._functions: dict[str, list[list[Callable[..., Any]]]] = {}

    def by_tier(self, point: str) -> list[list[Callable[..., Any]]]:
        """The enabled functions of a point, one list a tier."""
        if point not in self._functions:
            switches = SWITCHES[point]
            self._functions[point] = [
                [
                    getattr(plugin, point)
                    for entry, plugin in tier
                    if hasattr(plugin, point) and (not switches or any(entry.get(switch) for switch in switches))
                ]
                for tier in self.tiers
            ]
        return self._functions[point]

    def functions(self, point: str) -> list[Callable[..., Any]]:
        return [function for tier in self.by_tier(point) for function in tier]

    # ---- combination patterns (spec 03 §7.1)

    def first_nonzero(self, point: str, *args: object) -> int:
        for function in self.functions(point):
            answer = function(*args)
            if answer:
                return int(answer)
        return 0

    def vote(self, point: str, *args: object) -> bool:
        """A rejection ends it; a tier in which somebody permits ends it; nobody said anything: yes."""
        for tier in self.by_tier(point):
            permitted = False
            for function in tier:
                answer = function(*args)
                if answer == REJECT:
                    return False
                permitted = permitted or answer == PERMIT
            if permitted:
                return True
        return True

    def all_agree(self, point: str, *args: object) -> bool:
        return all(function(*args) for function in self.functions(point))

    def victims(self, point: str, evictor: object, candidates: list[Task]) -> list[Task]:
        """Who may be evicted: the intersection within the first tier that decides (spec 03 §7.4)."""
        chosen: list[Task] | None = None
        for tier in self.by_tier(point):
            for function in tier:
                answer, vote = function(evictor, candidates)
                if vote == ABSTAIN:
                    continue
                if not answer:
                    chosen = None
                    break
                if chosen is None:
                    chosen = list(answer)
                else:
                    uids = {task.uid for task in answer}
                    # an empty intersection counts as "nothing chosen yet": the next plugin starts anew
                    chosen = [task for task in chosen if task.uid in uids] or None
            if chosen is not None:
                return chosen
        return []

    # ---- orders (spec 03 §7.3)

    def job_less(self, left: Job, right: Job) -> bool:
        answer = self.first_nonzero("job_order", left, right)
        return answer < 0 if answer else (left.created, left.key) < (right.created, right.key)

    def queue_less(self, left: Queue, right: Queue) -> bool:
        answer = self.first_nonzero("queue_order", left, right)
        return answer < 0 if answer else (left.created, left.name) < (right.created, right.name)

    def sub_job_less(self, left: SubJob, right: SubJob) -> bool:
        answer = self.first_nonzero("sub_job_order", left, right)
        return answer < 0 if answer else (left.index, left.uid) < (right.index, right.uid)

    def task_less(self, left: Task, right: Task) -> bool:
        answer = self.first_nonzero("task_order", left, right)
        if answer:
            return answer < 0
        left_index, right_index = index_in_name(left), index_in_name(right)
        if left_index is not None and right_index is not None and left_index != right_index:
            return left_index < right_index
        return (left.created, left.uid) < (right.created, right.uid)

    def evict_first(self, evictor: Any) -> Callable[[Task, Task], bool]:
        """The comparison by which victims are taken (spec 03 §7.5)."""

        def less(left: Task, right: Task) -> bool:
            if left.job_key == right.job_key:
                return not self.task_less(left, right)
            left_job, right_job = self.jobs.get(left.job_key), self.jobs.get(right.job_key)
            if left_job is None or right_job is None:
                return not self.task_less(left, right) if left_job is right_job else left_job is None
            own_job = self.jobs.get(evictor.job_key)
            if own_job is None or left_job.queue == right_job.queue:
                answer = self.first_nonzero("job_order", left_job, right_job)
                return answer > 0 if answer else not self.task_less(left, right)
            queues = [self.queues[job.queue] for job in (left_job, right_job, own_job)]
            answer = self.first_nonzero("victim_queue_order", *queues)
            return answer < 0 if answer else not self.queue_less(queues[0], queues[1])

        return less

    def victim_heap(self, evictor: Any, victims: Sequence[Task]) -> Heap[Task]:
        return Heap(self.evict_first(evictor), victims)

    # ---- questions about jobs and queues (spec 03 §14)

    def is_valid(self, job: Job) -> bool:
        return self.all_agree("job_valid", job)

    def is_ready(self, job: Job) -> bool:
        return self.all_agree("job_ready", job)

    def is_pipelined(self, job: Job) -> bool:
        return self.vote("job_pipelined", job)

    def sub_job_is_ready(self, job: Job, sub_job: SubJob) -> bool:
        return self.all_agree("sub_job_ready", sub_job) if job.policies else self.is_ready(job)

    def sub_job_is_pipelined(self, job: Job, sub_job: SubJob) -> bool:
        return self.vote("sub_job_pipelined", sub_job) if job.policies else self.is_pipelined(job)

    def is_starving(self, job: Job) -> bool:
        """All plugins of the first tier that has any must say so."""
        for tier in self.by_tier("job_starving"):
            if tier:
                return all(function(job) for function in tier)
        return False

    def is_overused(self, queue: Queue) -> bool:
        return any(function(queue) for function in self.functions("overused"))

    def may_allocate(self, queue: Queue, task: Task) -> bool:
        return self.all_agree("allocatable", queue, task)

    def may_reclaim(self, queue: Queue, tasks: list[Task]) -> bool:
        return self.all_agree("preemptive", queue, tasks)

    def fire(self, event: str, task: Task) -> None:
        """Tell the plugins that a task was placed (`on_allocate`) or taken back (`on_deallocate`)."""
        for function in self.functions(event):
            function(task)

    # ---- questions about nodes (spec 03 §7.6, §9)

    def pre_predicate(self, task: Task) -> str | None:
        """Why the task cannot be placed anywhere, or None."""
        for function in self.functions("pre_predicate"):
            reason = function(task)
            if reason:
                return str(reason)
        return None

    def predicate(self, task: Task, node: Node) -> Reasons:
        """Why the task may not go on the node; only the first plugin that objects speaks."""
        for function in self.functions("predicate"):
            reasons: Reasons = function(task, node)
            if reasons:
                return reasons
        return []


def index_in_name(task: Task) -> int | None:
    """The number after the last dash of a name with at least two dashes (spec 03 §7.3)."""
    parts = task.name.split("-")
    return integer(parts[-1]) if len(parts) >= 3 else None
