"""LeastAllocated and MostAllocated: emptier, or fuller, nodes first (spec 06 §3.3).

Kubernetes' amounts: allocatable of the node object, and for each container at least 100m and 200 MiB
unless it says otherwise. Scores are whole numbers; the divisions are exact up to 90 TB of memory a node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vcsched.kube.keys import CPU, MEMORY

if TYPE_CHECKING:
    from vcsched.columns.maths import Maths
    from vcsched.framework.plugin import Ask, Nodes, Plugin
    from vcsched.framework.session import Session

MAX_SCORE = 100.0


class LeastAllocated:
    """The part that stays free, averaged over cpu and memory."""

    def __init__(self, weight: int) -> None:
        self.weight = weight

    def register(self, plugin: Plugin, ssn: Session) -> None:
        ssn.batch_node_order.add(plugin, vector=self.score, reads="room")

    def score(self, ask: Ask, nodes: Nodes) -> Any:
        """0 to 100, times the weight."""
        return _average(ask, nodes, _free_part) * self.weight


class MostAllocated:
    """The part that is then used, averaged over cpu and memory."""

    def __init__(self, weight: int) -> None:
        self.weight = weight

    def register(self, plugin: Plugin, ssn: Session) -> None:
        ssn.batch_node_order.add(plugin, vector=self.score, reads="room")

    def score(self, ask: Ask, nodes: Nodes) -> Any:
        """0 to 100, times the weight."""
        return _average(ask, nodes, _used_part) * self.weight


def _free_part(maths: Maths, whole: Any, wanted: Any) -> Any:
    """What stays free of an amount, 0 to 100; 0 where the node has nothing of it."""
    return maths.where(wanted > whole, 0.0, maths.trunc(maths.div((whole - wanted) * MAX_SCORE, whole)))


def _used_part(maths: Maths, whole: Any, wanted: Any) -> Any:
    """What is then used of an amount, 0 to 100; 0 where the node has nothing of it."""
    return maths.trunc(maths.div(maths.minimum(wanted, whole) * MAX_SCORE, whole))


def _average(ask: Ask, nodes: Nodes, part: Any) -> Any:
    """Over cpu and memory, without what the node has nothing of; 0 if it has neither."""
    maths, request, alloc = nodes.maths, ask.request, nodes.view_alloc
    cpu, memory = alloc[CPU], alloc[MEMORY]
    of_cpu = part(maths, cpu, nodes.view_nonzero_cpu + request.nonzero_cpu)
    of_memory = part(maths, memory, nodes.view_nonzero_memory + request.nonzero_memory)
    return maths.trunc(maths.div(of_cpu + of_memory, (cpu != 0) * 1.0 + (memory != 0) * 1.0))
