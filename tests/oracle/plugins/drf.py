"""drf: the job with the smallest dominant share first, flat or along a queue hierarchy (spec 05 §6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.job import Job
from tests.oracle.points import PERMIT, Vote
from tests.oracle.queue import Queue
from tests.oracle.resources import Resources, minus, plus, share, total_of
from tests.oracle.task import Task

from .base import Plugin, compare

SHARE_TOLERANCE = 1e-6


@dataclass
class Branch:
    """A node of the hierarchy: an inner one has children, a leaf is a job."""

    weight: float = 1.0
    children: dict[str, Branch] = field(default_factory=dict)
    job: str = ""
    request: Resources = field(default_factory=Resources)
    allocated: Resources = field(default_factory=Resources)
    share: float = 0.0
    saturated: bool = False


class DominantResourceFairness(Plugin):
    def open(self) -> None:
        session = self.session
        self.names = session.total.names()
        self.allocated = {job.key: job.allocated() for job in session.jobs.values()}
        self.hierarchical = bool(self.entry.get("enableHierarchy"))
        if self.hierarchical:
            self.queue_order = self._queue_order
            self.reclaimable = self._reclaimable
            self.root = Branch()
            for job in session.jobs.values():
                self._add_leaf(job)
            self._refresh()

    def share(self, amount: Resources) -> float:
        return share(amount, self.session.total, self.names)

    def job_order(self, left: Job, right: Job) -> int:
        return compare(self.share(self.allocated[left.key]), self.share(self.allocated[right.key]))

    def on_allocate(self, task: Task) -> None:
        if task.job_key in self.allocated:
            self.allocated[task.job_key].add(task.request)
            self._refresh()

    def on_deallocate(self, task: Task) -> None:
        if task.job_key in self.allocated:
            self.allocated[task.job_key].subtract(task.request)
            self._refresh()

    def preemptable(self, evictor: Task, candidates: list[Task]) -> tuple[list[Task], Vote]:
        """Victims whose job would still have at least the evictor's share (spec 05 §6.1)."""
        if evictor.job_key not in self.allocated:
            return [], PERMIT
        own_share = self.share(plus(self.allocated[evictor.job_key], evictor.request))
        left: dict[str, Resources] = {}
        victims = []
        for task in candidates:
            if task.job_key not in self.allocated:
                continue
            rest = left.setdefault(task.job_key, self.allocated[task.job_key].clone())
            rest.subtract(task.request)
            other_share = self.share(rest)
            if own_share < other_share or abs(own_share - other_share) <= SHARE_TOLERANCE:
                victims.append(task)
        return victims, PERMIT

    # ---- hierarchical (spec 05 §6.2)

    def _add_leaf(self, job: Job) -> None:
        queue = self.session.queues[job.queue]
        branch = self.root
        weights = queue.hierarchy_weights.split("/")[1:]
        for depth, name in enumerate(queue.hierarchy.split("/")[1:]):
            if name not in branch.children:
                try:
                    weight = float(weights[depth])
                except (ValueError, IndexError):
                    weight = 1.0
                branch.children[name] = Branch(max(weight, 1.0))
            branch = branch.children[name]
        branch.children["\0" + job.key] = Branch(job=job.key, request=total_of(task.request for task in job.tasks))

    def _refresh(self) -> None:
        if self.hierarchical:
            used = total_of(self.allocated.values())
            demanded = {name for name in self.names if used.get(name) < self.session.total.get(name)}
            self._visit(self.root, demanded)

    def _visit(self, branch: Branch, demanded: set[str]) -> None:
        """Shares and saturation, bottom up; unsaturated children are scaled to the smallest share."""
        if branch.job:
            self._visit_leaf(branch, demanded)
            return
        for child in branch.children.values():
            self._visit(child, demanded)
        holding = [child for child in branch.children.values() if child.share != 0]
        smallest = min([1.0, *(child.share for child in holding if not child.saturated)])
        branch.allocated = Resources()
        for child in holding:
            factor = 1.0 if child.saturated else smallest / child.share
            branch.allocated.add(child.allocated if child.saturated else child.allocated.times(factor))
        branch.share = self.share(branch.allocated)
        branch.saturated = all(child.saturated for child in branch.children.values())

    def _visit_leaf(self, leaf: Branch, demanded: set[str]) -> None:
        leaf.allocated = self.allocated[leaf.job]
        leaf.share = self.share(leaf.allocated)
        leaf.saturated = any(
            leaf.request.get(name) != 0 and (leaf.allocated.get(name) >= leaf.request.get(name) or name not in demanded)
            for name in leaf.allocated.names()
        )

    def _compare(self, left: Queue, right: Queue) -> int:
        """Down both paths: unsaturated first, then the smaller weighted share."""
        left_branch = right_branch = self.root
        pairs = zip(left.hierarchy.split("/")[1:], right.hierarchy.split("/")[1:], strict=False)
        for left_name, right_name in pairs:
            if left_name not in left_branch.children or right_name not in right_branch.children:
                return 0
            left_branch, right_branch = left_branch.children[left_name], right_branch.children[right_name]
            if left_branch.saturated != right_branch.saturated:
                return 1 if left_branch.saturated else -1
            answer = compare(left_branch.share / left_branch.weight, right_branch.share / right_branch.weight)
            if answer:
                return answer
        return 0

    def _queue_order(self, left: Queue, right: Queue) -> int:
        return self._compare(left, right)

    def _reclaimable(self, evictor: Task, candidates: list[Task]) -> tuple[list[Task], Vote]:
        """Victims without which the evictor's queue, with its task, would still come first."""
        jobs, queues = self.session.jobs, self.session.queues
        own_job = jobs.get(evictor.job_key)
        if own_job is None:
            return [], PERMIT
        victims = []
        self.allocated[own_job.key] = plus(self.allocated[own_job.key], evictor.request)
        for task in candidates:
            job = jobs.get(task.job_key)
            if job is None:
                continue
            before = self.allocated[job.key]
            self.allocated[job.key] = minus(before, task.request)
            self._refresh()
            if self._compare(queues[own_job.queue], queues[job.queue]) < 0:
                victims.append(task)
            self.allocated[job.key] = before
        self.allocated[own_job.key] = minus(self.allocated[own_job.key], evictor.request)
        self._refresh()
        return victims, PERMIT
