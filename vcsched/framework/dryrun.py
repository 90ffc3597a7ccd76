"""Topology-aware preemption: candidates on several nodes are worked out first, then the cheapest is taken
(spec 04 §6.6).

The dry run uses the real columns under a statement that is always rolled back, so every filter sees the
node as it would be; nothing is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vcsched.framework import victims

if TYPE_CHECKING:
    from vcsched.columns.table import IntArray
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.plugin import Ask
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.framework.victims import TaskTest
    from vcsched.model.node import Node
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

REASON = "preempt"
OFFSET = 1 << 31  # makes priorities positive before they are summed


class Candidate(NamedTuple):
    """A node and the tasks that would have to go."""

    node: Node
    gone: list[Task]


class TopologyAware:
    """The variant with its three arguments."""

    def __init__(self, ssn: Session, arguments: Arguments) -> None:
        self._ssn = ssn
        self._percentage = arguments.int("minCandidateNodesPercentage", 10)
        self._at_least = arguments.int("minCandidateNodesAbsolute", 1)
        self._at_most = arguments.int("maxCandidateNodesAbsolute", 100)

    def attempt(self, ask: Ask, rows: IntArray, parent: Statement, wanted: TaskTest) -> bool:
        """Take the cheapest of enough candidate nodes; its operations go to `parent`."""
        ssn = self._ssn
        count = len(rows)
        enough = min(max(count * self._percentage // 100, self._at_least), self._at_most, count)
        start = ssn.rng.randrange(count)
        found: list[Candidate] = []
        for i in range(count):
            if len(found) >= enough:
                break
            node = ssn.world.node_at[rows[(start + i) % count]]
            assert node is not None
            gone = self._on_node(ask, node, wanted)
            if gone:
                found.append(Candidate(node, gone))
        if not found:
            return False
        node, gone = min(found, key=self._cost)
        statement = ssn.statement()
        for victim in gone:
            statement.evict(victim, REASON)
        if statement.pipeline(ask.task, node, after_eviction=True):
            statement.rollback()
            return False
        parent.absorb(statement)
        return True

    def _on_node(self, ask: Ask, node: Node, wanted: TaskTest) -> list[Task]:
        """The tasks that must go from this node, empty if none or if it does not help."""
        ssn, task, queue = self._ssn, ask.task, ask.queue
        assert queue is not None
        allowed = ssn.preemptable(task, victims.candidates(node, wanted))
        ssn.metrics.preemption_tried(len(allowed))
        if not allowed or not victims.has_room(ssn, task, node, allowed):
            return []
        trial = ssn.statement()
        enough = self._test(ask, node, queue)
        gone = victims.evict_until(ssn, trial, task, allowed, enough, REASON)
        kept = victims.reprieve(trial, gone, enough, REASON) if gone else []
        trial.rollback()
        return kept

    def _test(self, ask: Ask, node: Node, queue: Queue) -> victims.Test:
        """All filters, or under the reference's rules only those that simulate, and as they were before the first
        eviction where no plugin follows it."""
        ssn = self._ssn
        if not ssn.compat.evict_unchecked:
            return victims.fit_test(ssn, ask, node, queue)
        refused = not ssn.simulate_remove_task and ssn.simulate_predicate(ask, node) is not None

        def fits() -> bool:
            if refused or not ssn.allocatable(queue, ask.task) or not victims.has_room(ssn, ask.task, node):
                return False
            return ssn.simulate_predicate(ask, node) is None

        return fits

    def _cost(self, candidate: Candidate) -> tuple[object, ...]:
        """Lowest priority of the first victim, lowest sum, fewest, and those that started last."""
        gone = candidate.gone
        priorities = [t.pod.spec.priority or 0 for t in gone]
        highest = max(priorities)
        started = [
            t.pod.status.start_time.timestamp() if t.pod.status.start_time is not None else self._ssn.now
            for t, priority in zip(gone, priorities, strict=True)
            if priority == highest
        ]
        return (priorities[0], sum(p + OFFSET for p in priorities), len(gone), -min(started))
