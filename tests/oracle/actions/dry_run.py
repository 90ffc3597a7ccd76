"""Topology-aware preemption: simulate the victims of each node, give back what is not needed (04 §6.6)."""

from __future__ import annotations

from collections.abc import Callable

from tests.oracle.node import Node
from tests.oracle.plugins.capacity import Capacity
from tests.oracle.plugins.predicates import saved_state
from tests.oracle.resources import Resources, fits
from tests.oracle.session import Session
from tests.oracle.statement import Statement
from tests.oracle.task import Task


class Simulation:
    """One task on one node with victims gone; nothing of the session changes but the task's filter counts."""

    def __init__(self, session: Session, task: Task, node: Node) -> None:
        self.session, self.task, self.node = session, task, node
        self.queue = session.queues[session.jobs[task.job_key].queue]
        self.room = node.future_idle()
        self.queue_changes: dict[str, Resources] = {}

    def remove(self, victim: Task) -> None:
        self._change(victim, "simulate_remove_task", -1)

    def restore(self, victim: Task) -> None:
        self._change(victim, "simulate_add_task", 1)

    def _change(self, victim: Task, point: str, sign: int) -> None:
        for function in self.session.functions(point):
            function(self.task, victim, self.node)
        for name in self._queues_of(victim):
            amount = self.queue_changes.setdefault(name, Resources(0, 0, {}))
            amount.add(victim.request.times(sign))
        self.room.add(victim.request.times(-sign))

    def _queues_of(self, victim: Task) -> list[str]:
        """The victim's queue and, under capacity, its ancestors."""
        job = self.session.jobs.get(victim.job_key)
        if job is None:
            return []
        for plugin in self.session.plugins():
            if isinstance(plugin, Capacity) and job.queue in plugin.accounts:
                return [job.queue, *plugin.accounts[job.queue].ancestors]
        return [job.queue]

    def filters_pass(self) -> bool:
        return not any(f(self.task, self.node) for f in self.session.functions("simulate_predicate"))

    def passes(self) -> bool:
        if not self.session.all_agree("simulate_allocatable", self.queue, self.task, self.queue_changes):
            return False
        return fits(self.task.request, self.room) and self.filters_pass()


def topology_aware(
    session: Session, task: Task, parent: Statement, is_victim: Callable[[Task], bool], names: list[str]
) -> bool:
    """Take the node whose victims weigh least."""
    from .preempt import victims_on

    start = session.choices.start(len(names))
    candidates: list[tuple[str, list[Task]]] = []
    for step in range(len(names)):
        if len(candidates) >= most_candidates(session, len(names)):
            break
        node = session.nodes[names[(start + step) % len(names)]]
        victims = victims_on(session, task, node, is_victim)
        needed = needed_victims(session, task, node, victims) if victims is not None else []
        if needed:
            candidates.append((node.name, needed))
    if not candidates:
        return False
    name, victims = min(candidates, key=lambda candidate: weight_of(candidate[1]))
    for victim in victims:
        parent.evict(victim)
    parent.pipeline(task, name)
    return True


def most_candidates(session: Session, count: int) -> int:
    """How many nodes with victims are enough."""
    percentage = session.argument("preempt", "minCandidateNodesPercentage", 10)
    least = session.argument("preempt", "minCandidateNodesAbsolute", 1)
    most = session.argument("preempt", "maxCandidateNodesAbsolute", 100)
    return int(min(max(count * percentage // 100, least), most, count))


def needed_victims(session: Session, task: Task, node: Node, victims: list[Task]) -> list[Task]:
    """Victims left after the reprieve, in eviction order; empty if the node does not work."""
    before = saved_state(task)
    simulation = Simulation(session, task, node)
    heap = session.victim_heap(task, victims)
    removed: list[Task] = []
    while heap and not simulation.passes():
        removed.append(heap.pop())
        simulation.remove(removed[-1])
    needed = []
    if removed and simulation.filters_pass():
        for victim in reversed(removed):
            simulation.restore(victim)
            if not simulation.passes():
                simulation.remove(victim)
                needed.append(victim)
    task.filter_state.update(before)
    return needed


def weight_of(victims: list[Task]) -> tuple[int, int, int, tuple[int, ...]]:
    """Lower is better: highest priority, sum of priorities, number, then the later start (spec 04 §6.6)."""
    highest = max(victim.pod_priority for victim in victims)
    starts = [victim.pod_status.get("startTime") or "9999" for victim in victims if victim.pod_priority == highest]
    later_first = tuple(-ord(character) for character in min(starts))
    total = sum(victim.pod_priority + 2**31 for victim in victims)
    return (victims[0].pod_priority, total, len(victims), later_first)
