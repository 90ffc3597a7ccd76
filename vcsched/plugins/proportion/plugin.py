"""proportion: order, limits and admission of queues by what they deserve (spec 05 §7).

What queues deserve is computed when a session opens, if anything it follows from has changed. What they
hold is asked at each question, promised room included, so queues change places while a session works.
Only queues with jobs take part. A queue that is not open takes no work.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vcsched.columns.space import MEMORY, PODS
from vcsched.framework.explain import joined, nowhere
from vcsched.framework.notices import Notices
from vcsched.framework.plugin import PERMIT, REJECT, Plugin, compare
from vcsched.framework.queue_gauges import QueueGauges
from vcsched.model.algebra import tolerance
from vcsched.model.limits import Excess, excesses, listed, spell
from vcsched.model.resources import human
from vcsched.plugins.proportion.deserved import Vessels, limits, shares, water_fill

if TYPE_CHECKING:
    from vcsched.columns.table import FloatArray
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.metric_queues import QueueFamily
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

_TEXT = "queue resource quota insufficient"


class Proportion(Plugin):
    """`deserved` and `limit` are float64[C, rows], by row of the queue table; 0 for queues without jobs."""

    name = "proportion"

    deserved: FloatArray
    limit: FloatArray

    _ssn: Session

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self._inputs: tuple[np.ndarray, ...] = ()
        self._gauges = QueueGauges()
        self._notices = Notices()

    def open(self, ssn: Session) -> None:
        self._ssn = ssn
        self._stateless_is_closed = ssn.compat.stateless_queue_closed
        self._notices.begin()
        self._tolerance = np.array([tolerance(name) for name in ssn.space.names])
        self._divide(ssn)
        table = ssn.queue_table
        self._column = ssn.space.index
        self._charged = table.charged_cells
        self._deserved = [memoryview(column) for column in self.deserved]
        self._terms = list(zip(self._charged, self._deserved, self._tolerance.tolist(), strict=True))
        self._admitted: dict[tuple[int, int], float] = {}  # (row, column) -> admitted in this session
        self._overused: dict[str, bool] = {}
        ssn.queue_order.add(self, self.first)
        ssn.overused.add(self, self.is_overused, why=self.why_overused)
        ssn.allocatable.add(self, self.is_allocatable, why=self.why_not_allocatable)
        ssn.simulate_allocatable.add(self, self.fits)
        ssn.preemptive.add(self, self.may_reclaim)
        ssn.reclaimable.add(self, self.beyond_deserved)
        ssn.job_enqueueable.add(self, self.vote)
        ssn.job_enqueued.add(self, self.admitted)

    def close(self, ssn: Session) -> None:
        table, n = ssn.queue_table, ssn.queue_table.n
        held = table.charged[:, :n]
        families: dict[QueueFamily, FloatArray] = {
            "allocated": held,
            "request": table.requested[:, :n],
            "inqueue": table.inqueue[:, :n],
            "deserved": self.deserved,
        }
        share = shares(held, self.deserved, self._tolerance)
        self._gauges.write(ssn, families, share, self._overused, table.weight[:n])

    # ------------------------------------------------------------------ what queues deserve

    def _divide(self, ssn: Session) -> None:
        """Compute `deserved` and `limit`, unless nothing changed."""
        table, n = ssn.queue_table, ssn.queue_table.n
        alive = table.alive[:n]
        inputs = (
            ssn.total, alive, alive & (table.jobs[:n] > 0), table.weight[:n],
            table.requested[:, :n], table.capability[:, :n], table.guarantee[:, :n],
        )  # fmt: skip
        if len(self._inputs) == len(inputs) and all(map(np.array_equal, self._inputs, inputs)):
            return
        self._inputs = tuple(array.copy() for array in inputs)
        total, alive, takes_part, weight, requested, capability, guarantee = self._inputs
        rows = np.flatnonzero(takes_part)
        guaranteed = guarantee[:, alive].sum(axis=1)
        most, top = limits(total, guaranteed, guarantee[:, rows], capability[:, rows])
        vessels = Vessels(weight[rows], requested[:, rows], top, guarantee[:, rows])
        self.deserved, self.limit = np.zeros_like(requested), np.zeros_like(requested)
        self.deserved[:, rows] = water_fill(total, vessels, self._tolerance)
        self.limit[:, rows] = most

    # ------------------------------------------------------------------ order and overuse

    def share(self, queue: Queue) -> float:
        """How much of what it deserves the queue holds, in the resource where that is most; 0 if nothing."""
        row = queue.row
        share = 0.0
        for charged, deserved, least in self._terms:
            due = deserved[row]
            if due >= least:
                part = charged[row] / due
                if part > share:
                    share = part
        return share

    def first(self, a: Queue, b: Queue) -> int:
        """The higher priority first, then the smaller share."""
        return compare(b.priority, a.priority) or compare(self.share(a), self.share(b))

    def is_overused(self, queue: Queue) -> bool:
        """Whether the queue holds what it deserves of every resource; `pods` counts as one."""
        row = queue.row
        overused = bool(queue.jobs)
        for charged, deserved, least in self._terms:
            if deserved[row] - charged[row] >= least:
                overused = False
                break
        self._overused[queue.name] = overused
        return overused

    def why_overused(self, queue: Queue) -> str:
        row = queue.row
        space = self._ssn.space
        held = []
        for c in space.ranked(range(space.width)):
            due = self._deserved[c][row]
            if c <= MEMORY or due > 0:
                name = space.names[c]
                held.append(f"{name} {human(name, self._charged[c][row])} of {human(name, due)}")
        return f"queue {queue.name} has all it deserves: {' · '.join(held)}"

    # ------------------------------------------------------------------ limits of placement

    def is_allocatable(self, queue: Queue, task: Task) -> bool:
        """Whether the queue is open and deserves one more such task."""
        return self._is_open(queue) and self.fits(queue, task)

    def fits(self, queue: Queue, task: Task) -> bool:
        """Whether the queue deserves what it is charged and the task."""
        row, charged, deserved = queue.row, self._charged, self._deserved
        for column, amount in task.request.items:
            if amount > 0 and column != PODS and charged[column][row] + amount > deserved[column][row]:
                return False
        return True

    def why_not_allocatable(self, queue: Queue, task: Task) -> str:
        if not self._is_open(queue):
            return closed(queue)
        row = queue.row
        found = excesses(
            task.request.by_name,
            lambda name: self._charged[self._column[name]][row],
            lambda name: self._deserved[self._column[name]][row],
        )
        return nowhere(self._ssn, found) or f"queue {queue.name} has its share: {spell(found, 'used', ' deserved')}"

    def may_reclaim(self, queue: Queue, tasks: Sequence[Task]) -> bool:
        """Whether the queue is open and deserves all these tasks on top of what it holds."""
        if not self._is_open(queue):
            return False
        wanted: dict[int, float] = {}
        for task in tasks:
            for column, amount in task.request.items:
                wanted[column] = wanted.get(column, 0.0) + amount
        row, charged, deserved = queue.row, self._charged, self._deserved
        return not any(
            amount > 0 and column != PODS and charged[column][row] + amount > deserved[column][row]
            for column, amount in wanted.items()
        )

    def beyond_deserved(self, reclaimer: Task, candidates: Sequence[Task]) -> tuple[Sequence[Task], int]:
        """Tasks of queues that hold more than they deserve of something, until they would not; by default of
        something that the task asks for, as giving others takes from what the queue deserves."""
        left: dict[int, list[float]] = {}
        victims = []
        for task in candidates:
            job = task.job
            if job is None or job.queue is None:
                continue
            row = job.queue.row
            held = left.get(row)
            if held is None:
                held = left[row] = [charged[row] for charged in self._charged]
            over = (
                column
                for column, (amount, (_, deserved, least)) in enumerate(zip(held, self._terms, strict=True))
                if amount - deserved[row] >= least
            )
            if not self._relieves(task, over):
                continue
            for column, amount in task.request.items:
                held[column] -= amount
            victims.append(task)
        return victims, PERMIT

    def _relieves(self, task: Task, over: Iterable[int]) -> bool:
        """Whether it helps to evict the task where its queue holds too much of these columns."""
        if self._ssn.compat.victim_veto != "protective":
            return any(True for _ in over)
        asked = {column for column, amount in task.request.items if amount > 0 and column != PODS}
        return not asked.isdisjoint(over)

    # ------------------------------------------------------------------ admission

    def vote(self, job: Job) -> int:
        """Whether the job's minimum fits below its queue's limit, beside what runs and what was admitted."""
        queue = job.queue
        assert queue is not None, "only attached jobs are asked about"
        if not self._is_open(queue):
            self._ssn.refuse(job, "queue closed", closed(queue))
            return REJECT
        if job.min_resources is None:
            return PERMIT
        row = queue.row
        found = excesses(job.min_resources, lambda name: self._taken(row, name), lambda name: self._most(row, name))
        if not found:
            return PERMIT
        self._tell(job, queue, found)
        return REJECT

    def admitted(self, job: Job) -> None:
        """From now on the job's minimum is reserved in its queue."""
        if job.min_resources is None or job.queue is None:
            return
        row = job.queue.row
        for name, amount in self._ssn.admission_minimum(job).items():
            place = (row, self._column[name])
            self._admitted[place] = self._admitted.get(place, 0.0) + amount

    def _taken(self, row: int, name: str) -> float:
        column = self._column.get(name)
        if column is None:
            return 0.0
        table = self._ssn.queue_table
        reserved = table.inqueue_cells[column][row] + self._admitted.get((row, column), 0.0)
        taken: float = self._charged[column][row] + reserved - table.elastic_cells[column][row]
        return taken

    def _most(self, row: int, name: str) -> float:
        column = self._column.get(name)
        return 0.0 if column is None else float(self.limit[column, row])

    def _tell(self, job: Job, queue: Queue, found: list[Excess]) -> None:
        sentence = nowhere(self._ssn, found) or self._at_its_limit(queue, found)
        self._ssn.refuse(job, "queue limit", sentence)
        text = listed(_TEXT, "insufficient", found)
        if self._notices.is_due(job.uid or job.key, text, self._ssn.now):
            self._ssn.event(job, "Normal", "Unschedulable", joined(text, sentence))

    def _at_its_limit(self, queue: Queue, found: list[Excess]) -> str:
        capability = self._ssn.queue_table.capability
        capped = [e for e in found if e.limit == capability[self._column[e.name], queue.row]]
        sentence = f"queue {queue.name} at its limit: {spell(found, 'used or reserved')}"
        if capped:
            more = ", ".join(f"{e.name} {human(e.name, e.missing)}" for e in capped)
            sentence += f"; raise the capability of the queue by {more}"
        return sentence

    def _is_open(self, queue: Queue) -> bool:
        return queue.is_open(self._stateless_is_closed)


def closed(queue: Queue) -> str:
    """The sentence about a queue that is not open."""
    return f"queue {queue.name} is {queue.obj.status.state or 'without a state'}; open it"
