"""capacity: order, limits and admission of queues by what each may have and deserves (spec 05 §8, §9).

Limits are computed when a session opens, if a queue or the cluster has changed. With `enableHierarchy` the
queues form a tree: only queues without children may have jobs, and what a queue holds counts for all its
ancestors. What is wrong with the tree holds back the jobs of the queues it concerns, and no others
(design-notes §7 row 16). Devices that are claimed by class are not limited here (spec 05 §10).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from vcsched.columns.space import PODS
from vcsched.framework.explain import joined, nowhere
from vcsched.framework.notices import Notices
from vcsched.framework.plugin import PERMIT, REJECT, Plugin
from vcsched.framework.queue_gauges import QueueGauges
from vcsched.model.algebra import tolerance
from vcsched.model.limits import Excess, excesses, listed, spell
from vcsched.model.queue import ROOT
from vcsched.model.resources import human
from vcsched.plugins.capacity.books import Books, shares
from vcsched.plugins.capacity.limits import Limits, flat_limits, tree_limits
from vcsched.plugins.capacity.order import QueueOrder
from vcsched.plugins.capacity.sums import below
from vcsched.plugins.capacity.tree import Tree, flat, grow
from vcsched.plugins.capacity.victims import Reclaim

if TYPE_CHECKING:
    from vcsched.columns.table import FloatArray
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.metric_queues import QueueFamily
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

log = logging.getLogger(__name__)

_LEVEL = "ancestorReclaimLevel"
_TEXT = "queue resource quota insufficient"

ACCEPTED = ("capacity.DynamicResourceAllocationEnable", "capacity.DRAConsumableCapacityEnable")
"""Arguments without an effect here, as devices by class are not limited. Known, so nobody is warned."""


class Capacity(Plugin):
    name = "capacity"

    _ssn: Session
    _tree: Tree
    _limits: Limits
    _books: Books

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self._level = args.int(_LEVEL, 0)
        if self._level < 0:
            self._level = args.unusable(_LEVEL, self._level, "0 or more", 0)
        for accepted in ACCEPTED:
            args.get(accepted)
        self._seen: object = None  # what tree and limits were made of
        self._told: frozenset[str] = frozenset()
        self._notices = Notices()
        self._gauges = QueueGauges()

    def open(self, ssn: Session) -> None:
        self._ssn = ssn
        self._notices.begin()
        self._column = ssn.space.index
        self._tolerance = np.array([tolerance(name) for name in ssn.space.names])
        self._renew(ssn)
        self._stopped = self._fault_of_all(ssn) if ssn.compat.queue_fault_blocks_all else ""
        books = self._books = Books(ssn, self._tree, self._limits, self._tolerance)
        if books.ledger is not None:
            ssn.ledgers.add(self, books.ledger)
        if self._stopped:
            books.ways = {}
        self._register(ssn, books)

    def close(self, ssn: Session) -> None:
        """The gauges of queues, each with the queues below it."""
        table, n, books = ssn.queue_table, ssn.queue_table.n, self._books
        held = np.array(books.held)[:, :n]
        families: dict[QueueFamily, FloatArray] = {
            "allocated": held,
            "request": below(table.requested[:, :n], self._tree),
            "inqueue": below(table.inqueue[:, :n], self._tree),
            "deserved": self._limits.deserved,
            "capacity": self._limits.capability,
            "real_capacity": self._limits.most,
        }
        share = shares(held, self._limits, self._tolerance)
        overused = {queue.name: bool(share[queue.row] > 1) for queue in ssn.queues.values()}
        self._gauges.write(ssn, families, share, overused)

    def _register(self, ssn: Session, books: Books) -> None:
        order = QueueOrder(books)
        reclaim = Reclaim(ssn, books, self._level)
        if not ssn.configuration.is_hierarchical(self.name):
            ssn.queue_order.add(self, order.first)
        elif not self._stopped:
            ssn.queue_order.add(self, order.first_in_tree)
            ssn.victim_queue_order.add(self, order.closer_first)
        ssn.allocatable.add(self, self.is_allocatable, why=self.why_not_allocatable)
        ssn.simulate_allocatable.add(self, self.fits)
        ssn.preemptive.add(self, self.may_reclaim)
        ssn.reclaimable.add(self, reclaim.victims)
        ssn.unified_evictable.add(self, reclaim.gang_victims)
        ssn.job_enqueueable.add(self, self.vote)
        ssn.job_enqueued.add(self, self.admitted)

    # ------------------------------------------------------------------ tree and limits

    def _renew(self, ssn: Session) -> None:
        """Make tree and limits anew, unless nothing they follow from has changed."""
        hierarchical = ssn.configuration.is_hierarchical(self.name)
        queues = ssn.queues
        specs = [(queue.name, queue.row, queue.obj.spec) for queue in queues.values()]
        seen = (ssn.total.tolist(), ssn.queue_table.n, specs)  # rows stay when their queue goes
        if seen == self._seen:
            return
        self._seen = seen
        if hierarchical:
            self._tree = grow(queues)
            self._limits = tree_limits(ssn, self._tree, queues.values(), self._tolerance)
        else:
            self._tree = flat(queues)
            self._limits = flat_limits(ssn, queues.values(), self._tolerance)
        told = frozenset(self._tree.faults.values())
        for sentence in sorted(told - self._told):
            log.warning("plugin capacity: %s; the jobs of the queues concerned wait", sentence)
        self._told = told

    def _fault_of_all(self, ssn: Session) -> str:
        """What stops the jobs of all queues, in the reference's way; "" if nothing does."""
        if not ssn.configuration.is_hierarchical(self.name):
            return ""
        if ROOT not in ssn.queues:
            return f"queue {ROOT} does not exist; create it"
        for sentence in self._tree.faults.values():
            return sentence
        for name in self._tree.inner:
            if ssn.queues[name].jobs:
                return self._inner(name)
        return ""

    def _inner(self, name: str) -> str:
        below = self._tree.inner[name]
        shown = ", ".join(below[:3]) + (", …" if len(below) > 3 else "")
        return f"queue {name} has queues below it and takes no jobs; use one of {shown}"

    def _fault(self, queue: Queue) -> str:
        """Why no job of this queue can be reckoned with; "" if they can."""
        if queue.name in self._books.ways:
            return ""
        if self._stopped:
            return self._stopped
        return self._tree.faults.get(queue.name) or self._inner(queue.name)

    def _is_open(self, queue: Queue) -> bool:
        return queue.is_open(self._ssn.compat.stateless_queue_closed)

    # ------------------------------------------------------------------ limits of placement

    def is_allocatable(self, queue: Queue, task: Task) -> bool:
        """Whether the queue is open, and it and its ancestors may hold one more such task."""
        return self._is_open(queue) and self.fits(queue, task)

    def fits(self, queue: Queue, task: Task) -> bool:
        """The same, whether or not the queue is open."""
        way = self._books.ways.get(queue.name)
        return way is not None and self._books.fits(way, task)

    def why_not_allocatable(self, queue: Queue, task: Task) -> str:
        fault = self._fault(queue)
        if fault:
            return fault
        if not self._is_open(queue):
            return _closed(queue)
        held = self._books.held
        return self._first_excess(queue, task.request.by_name, lambda row, c: held[c][row], "used")[1]

    def may_reclaim(self, queue: Queue, tasks: Sequence[Task]) -> bool:
        """Whether the queue may take back room for all these tasks: within its limit, and in some resource
        within what it deserves, or, as far as `ancestorReclaimLevel` goes, what an ancestor does."""
        if not self._is_open(queue) or queue.name not in self._books.ways:
            return False
        wanted: dict[int, float] = {}
        for task in tasks:
            for column, amount in task.request.items:
                if amount > 0 and column != PODS:
                    wanted[column] = wanted.get(column, 0.0) + amount
        books, row = self._books, queue.row
        if any(books.held[c][row] + amount > books.most[c][row] for c, amount in wanted.items()):
            return False
        if self._deserves_some(row, wanted):
            return True
        for level in range(1, self._level + 1):
            above = self._tree.ancestor(queue, level)
            if above is not None and self._tree.name_of[above] != ROOT and self._deserves_some(above, wanted):
                return True
        return False

    def _deserves_some(self, row: int, wanted: dict[int, float]) -> bool:
        """Whether in some resource what is wanted stays within the deserved amount."""
        books = self._books
        for column, amount in wanted.items():
            least = books.least[column]
            held, deserved = books.held[column][row] + amount, books.deserved[column][row]
            if held - deserved < least and (held >= least or deserved >= least):
                return True
        return False

    # ------------------------------------------------------------------ admission

    def vote(self, job: Job) -> int:
        """Whether the job's minimum fits below all limits, beside what runs and what was admitted before."""
        queue = job.queue
        assert queue is not None, "only attached jobs are asked about"
        fault = self._fault(queue)
        if fault:
            self._ssn.refuse(job, "queue", fault)
            return REJECT
        if not self._is_open(queue):
            self._ssn.refuse(job, "queue closed", _closed(queue))
            return REJECT
        if job.min_resources is None:
            return PERMIT
        books = self._books
        found, sentence = self._first_excess(
            queue, job.min_resources, lambda row, c: books.held[c][row] + books.claims[c][row], "used or reserved"
        )
        if not found:
            return PERMIT
        self._ssn.refuse(job, "queue limit", sentence)
        text = listed(_TEXT, "insufficient", found)
        if self._notices.is_due(job.uid or job.key, text, self._ssn.now):
            self._ssn.event(job, "Normal", "Unschedulable", joined(text, sentence))
        return REJECT

    def admitted(self, job: Job) -> None:
        """From now on the job's minimum is reserved in its queue and the queues above it."""
        if job.min_resources is None or job.queue is None:
            return
        path = self._books.tree.paths.get(job.queue.name, ())
        for name, amount in self._ssn.admission_minimum(job).items():
            claims = self._books.claims[self._column[name]]
            for row in path:
                claims[row] += amount

    def _first_excess(
        self, queue: Queue, asked: Mapping[str, float], taken: Callable[[int, int], float], verb: str
    ) -> tuple[list[Excess], str]:
        """What is too much in the first queue on the way up where anything is, and the sentence about it."""
        column, most = self._column, self._books.most
        for row in self._books.ways[queue.name]:

            def taken_here(name: str, row: int = row) -> float:
                return taken(row, column[name])

            def most_here(name: str, row: int = row) -> float:
                return most[column[name]][row]

            found = excesses(asked, taken_here, most_here)
            if found:
                return found, self._sentence(queue, row, found, verb)
        return [], ""

    def _sentence(self, queue: Queue, row: int, found: list[Excess], verb: str) -> str:
        """`queue team (above alice) at its limit: cpu 96 of 100 used, 8 asked; raise …`."""
        if absent := nowhere(self._ssn, found):
            return absent
        name = self._tree.name_of[row]
        above = "" if row == queue.row else f" (above {queue.name})"
        sentence = f"queue {name}{above} at its limit: {spell(found, verb)}"
        capability = self._ssn.queue_table.capability
        capped = [e for e in found if e.limit == capability[self._column[e.name], row]]
        if capped:
            more = ", ".join(f"{e.name} {human(e.name, e.missing)}" for e in capped)
            sentence += f"; raise the capability of queue {name} by {more}"
        return sentence


def _closed(queue: Queue) -> str:
    return f"queue {queue.name} is {queue.obj.status.state or 'without a state'}; open it"
