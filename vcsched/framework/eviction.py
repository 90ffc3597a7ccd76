"""Evicting on a node: one after the other until the task fits, and nobody in vain (spec 04 §6.5, §7).

Victims are tried on the real columns under a statement: evict one, look at the node with all filters, stop
when the task fits, give back whoever is not needed. Nothing is sent before the evictor's job is promised its
room. Pods that are leaving already count as gone, so nobody else has to go for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from vcsched.framework.promises import without_leaving
from vcsched.framework.victims import Hunt, Test, Unit, in_order

if TYPE_CHECKING:
    from vcsched.framework.statement import Statement
    from vcsched.model.node import Node
    from vcsched.model.task import Task


class Eviction(NamedTuple):
    """What an attempt on one node took."""

    node: Node
    units: list[Unit]

    @property
    def victims(self) -> list[Task]:
        return [task for unit in self.units for task in unit]

    @property
    def broken(self) -> tuple[int, int]:
        """(highest priority, pods) of the gangs that fall apart; pods is 0 where none does."""
        lost = [task for unit in self.units if len(unit) > 1 for task in unit]
        return (max((t.job.priority for t in lost if t.job is not None), default=0), len(lost))

    @property
    def cost(self) -> tuple[int, int, int]:
        """Fewest victims, then the least important ones."""
        priorities = [t.job.priority if t.job is not None else 0 for t in self.victims]
        return (len(priorities), max(priorities, default=0), sum(priorities))


def evict_until(hunt: Hunt, statement: Statement, victims: Sequence[Task], enough: Test) -> list[Unit] | None:
    """Evict victims in order until `enough()`; None if all of them do not make it. The test comes first, so
    nobody is evicted where the task fits already. A whole gang is one unit, with what it lost before."""
    units: list[Unit] = []
    order = in_order(hunt, victims)
    while not enough():
        victim = next(order, None)
        if victim is None:
            return None
        unit = hunt.unit(victim)
        if not unit:
            continue
        reason = hunt.reason(unit)
        for one in unit:
            statement.evict(one, reason)
        if len(unit) > 1:
            mine = [earlier for earlier in units if earlier[0].job is victim.job]
            units = [earlier for earlier in units if earlier[0].job is not victim.job]
            unit = [task for earlier in mine for task in earlier] + unit
        units.append(unit)
    return units


def reprieve(hunt: Hunt, statement: Statement, units: list[Unit], enough: Test) -> list[Unit]:
    """Give back every unit that is not needed, last taken first; returns those that stay evicted. The last one
    taken is needed: without it there was not enough."""
    kept = units[-1:]
    for unit in reversed(units[:-1]):
        for task in reversed(unit):
            statement.spare(task)
        if not enough():
            reason = hunt.reason(unit)
            for task in unit:
                statement.evict(task, reason)
            kept.append(unit)
    return kept


def make_room(
    hunt: Hunt, node: Node, allowed: Sequence[Task], parent: Statement, enough: Test, *, keep_all: bool = False
) -> Eviction | None:
    """Evict on a node until the task fits and promise it the room; the operations go to `parent`.

    With `keep_all` nobody who was taken is given back.
    """
    statement = hunt.ssn.statement()
    with without_leaving(hunt.ssn, node):
        units = evict_until(hunt, statement, allowed, enough)
        if units is not None and not keep_all:
            units = reprieve(hunt, statement, units, enough)
    if units is None or statement.pipeline(hunt.ask.task, node, after_eviction=_shows(hunt, units)):
        statement.rollback()
        return None
    parent.absorb(statement)
    return Eviction(node, units)


def _shows(hunt: Hunt, units: list[Unit]) -> bool:
    """Whether the promise becomes a nomination. The reference's preempt forgets that best-effort victims take
    room of a kind, too (spec 04 §6.5)."""
    if hunt.ssn.compat.preempt_no_reprieve and not hunt.between_queues:
        return any(not task.best_effort for unit in units for task in unit)
    return bool(units)
