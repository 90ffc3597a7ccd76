"""Topology-aware preemption: candidates on several nodes are worked out first, then the cheapest is taken
(spec 04 §6.6).

The dry run uses the real columns under a statement that is always rolled back, so every filter sees the
node as it would be; nothing is copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.framework import victims
from vcsched.framework.eviction import Eviction, evict_until, reprieve
from vcsched.framework.promises import without_leaving

if TYPE_CHECKING:
    from vcsched.columns.table import IntArray
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.plugin import Ask
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.framework.victims import Hunt, Unit
    from vcsched.model.node import Node
    from vcsched.model.queue import Queue

OFFSET = 1 << 31  # makes priorities positive before they are summed


class TopologyAware:
    """The variant with its three arguments."""

    def __init__(self, ssn: Session, arguments: Arguments) -> None:
        self._ssn = ssn
        self._percentage = arguments.int("minCandidateNodesPercentage", 10)
        self._at_least = arguments.int("minCandidateNodesAbsolute", 1)
        self._at_most = arguments.int("maxCandidateNodesAbsolute", 100)

    def attempt(self, hunt: Hunt, rows: IntArray, parent: Statement) -> bool:
        """Take the cheapest of enough candidate nodes; its operations go to `parent`."""
        ssn = self._ssn
        count = len(rows)
        enough = min(max(count * self._percentage // 100, self._at_least), self._at_most, count)
        start = ssn.rng.randrange(count)
        found: list[Eviction] = []
        for i in range(count):
            if len(found) >= enough:
                break
            node = ssn.world.node_at[rows[(start + i) % count]]
            assert node is not None
            units = self._on_node(hunt, node)
            if units:
                found.append(Eviction(node, units))
        if not found:
            return False
        node, units = min(found, key=self._cost)
        statement = ssn.statement()
        for unit in units:
            for victim in unit:
                statement.evict(victim, hunt.reason(unit))
        if statement.pipeline(hunt.ask.task, node, after_eviction=True):
            statement.rollback()
            return False
        parent.absorb(statement)
        return True

    def _on_node(self, hunt: Hunt, node: Node) -> list[Unit]:
        """Who must go from this node, empty if nobody or if it does not help."""
        ssn, ask = self._ssn, hunt.ask
        assert ask.queue is not None
        allowed = hunt.allowed(node)
        ssn.metrics.preemption_tried(len(allowed))
        if not allowed or not victims.has_room(ssn, ask.task, node, allowed):
            return []
        trial = ssn.statement()
        enough = self._test(ask, node, ask.queue)
        with without_leaving(ssn, node):
            units = evict_until(hunt, trial, allowed, enough)
            kept = reprieve(hunt, trial, units, enough) if units else []
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

    def _cost(self, candidate: Eviction) -> tuple[object, ...]:
        """Nodes where gangs fall apart last; then the lowest priority of the first victim, the lowest sum, the
        fewest, and those that started last."""
        gone = candidate.victims
        priorities = [t.pod.spec.priority or 0 for t in gone]
        highest = max(priorities)
        started = [
            t.pod.status.start_time.timestamp() if t.pod.status.start_time is not None else self._ssn.now
            for t, priority in zip(gone, priorities, strict=True)
            if priority == highest
        ]
        total = sum(p + OFFSET for p in priorities)
        return (candidate.broken[1] > 0, candidate.broken, priorities[0], total, len(gone), -min(started))
