"""lowNodeUtilization: pods leave nodes that are too busy, as many as idle nodes have room for (spec 05 §16).

The least important pods of the busiest nodes go first, until the node is below its target or the idle nodes
would reach theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vcsched.kube.keys import CPU, MEMORY
from vcsched.model import resources
from vcsched.model.qos import qos
from vcsched.model.quantity import QuantityError
from vcsched.plugins.rescheduling.params import Params, Percent

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.node import Node
    from vcsched.model.task import Task

_SYSTEM = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


class _Use:
    """A node and its measured use; `percent` falls as pods leave."""

    def __init__(self, node: Node, percent: Percent) -> None:
        capacity = resources.amounts(node.obj.status.capacity)
        allocatable = resources.amounts(node.obj.status.allocatable) or capacity
        self.node = node
        self.percent = percent
        self.machine = Percent(capacity.get(CPU, 0.0), capacity.get(MEMORY, 0.0))
        self.offered = Percent(allocatable.get(CPU, 0.0), allocatable.get(MEMORY, 0.0))

    def is_below(self, thresholds: Percent) -> bool:
        """Below all of them."""
        return all(use < limit for use, limit in zip(self.percent, thresholds, strict=True))

    def is_above(self, targets: Percent) -> bool:
        """Above one of them."""
        return any(use > limit for use, limit in zip(self.percent, targets, strict=True))

    def room(self, targets: Percent) -> Percent:
        """What is missing to the targets, in milli-cpu and bytes."""
        return Percent(
            *(
                int(whole * target / 100 - whole * use / 100)
                for whole, target, use in zip(self.offered, targets, self.percent, strict=True)
            )
        )

    def lose(self, request: Percent) -> None:
        """A pod that asks for so much has left."""
        left = (
            use - asked * 100 / whole if whole else use
            for use, asked, whole in zip(self.percent, request, self.machine, strict=True)
        )
        self.percent = Percent(*left)


class Utilization:
    """One round."""

    def __init__(self, ssn: Session, params: Params) -> None:
        self._ssn = ssn
        self._params = params
        named = ssn.world.priority_classes.get(params.threshold_class)
        self._important = named.value if named is not None else _SYSTEM.get(params.threshold_class, 1 << 31)

    def victims(self, tasks: Sequence[Task]) -> list[Task]:
        """Those of the tasks that leave."""
        params = self._params
        uses = list(self._measured())
        low = [u for u in uses if not u.node.obj.spec.unschedulable and u.is_below(params.thresholds)]
        high = [u for u in uses if u not in low and u.is_above(params.targets)]
        if len(low) <= params.number_of_nodes or not high:
            return []
        rooms = [use.room(params.targets) for use in low]
        budget = Percent(sum(room.cpu for room in rooms), sum(room.memory for room in rooms))
        offered = {task.uid for task in tasks if task.preemptable and self._is_unimportant(task)}
        victims: list[Task] = []
        for use in sorted(high, key=lambda u: -sum(u.percent)):
            for task in sorted((t for t in use.node.tasks.values() if t.uid in offered), key=_rank):
                if use.is_below(params.targets) or min(budget) <= 0:
                    break
                if params.node_fit and not self._fits_one(task, low):
                    continue
                request = Percent(task.request.get(CPU), task.request.get(MEMORY))
                use.lose(request)
                budget = Percent(budget.cpu - request.cpu, budget.memory - request.memory)
                victims.append(task)
        return victims

    def _measured(self) -> Iterable[_Use]:
        """Nodes whose load is known."""
        for node in self._ssn.nodes.values():
            load = self._ssn.world.loads.get(node.name)
            if load is None or not load.is_fresh(self._ssn.now):
                continue
            try:
                yield _Use(node, Percent(load.cpu, load.memory))
            except QuantityError:
                continue  # the node's handler has said so

    def _is_unimportant(self, task: Task) -> bool:
        priority = task.pod.spec.priority
        return priority is None or priority < self._important

    def _fits_one(self, task: Task, low: list[_Use]) -> bool:
        """Whether an idle node would take the pod."""
        pipeline = self._ssn.pipeline
        ask = pipeline.ask(task)
        return any(not pipeline.reasons_at(ask, use.node.row, room=True) for use in low)


def _rank(task: Task) -> tuple[bool, int, int, float, str]:
    """Pods without a priority go first, then the lowest, then those that were promised least."""
    priority = task.pod.spec.priority
    try:
        promised = int(qos(task.pod))
    except QuantityError:
        promised = 0
    return (priority is not None, priority or 0, promised, task.created, task.uid)
