"""The hierarchy that queues describe in their annotations (spec 05 §6.2).

`volcano.sh/hierarchy: root/eng/dev` says where a queue stands, `volcano.sh/hierarchy-weights: 1/2/8` what
each step weighs; the root weighs 1 whatever it says, and so does what cannot be read or is below 1. Where two
queues weigh a step differently, the older one's word holds. Jobs of queues that say nothing stand under the
root. Knows no amounts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from vcsched.kube.keys import HIERARCHY, HIERARCHY_WEIGHTS

if TYPE_CHECKING:
    from vcsched.model.queue import Queue

Steps = tuple[tuple[str, float], ...]


class Hierarchy:
    """Nodes are numbers, 0 is the root. `paths` has, by queue name, the nodes below the root down to its own."""

    def __init__(self, queues: Iterable[Queue]) -> None:
        self.parent: list[int] = [-1]
        self.weight: list[float] = [1.0]
        self.depth: list[int] = [0]
        self.children: list[list[int]] = [[]]
        self.queues: list[list[Queue]] = [[]]  # whose jobs stand under the node
        self.paths: dict[str, tuple[int, ...]] = {}
        names: dict[tuple[int, str], int] = {}
        for queue in sorted(queues, key=lambda q: (q.created, q.name)):
            node, path = 0, []
            for name, weight in steps(queue):
                below = names.get((node, name))
                if below is None:
                    below = names[node, name] = self._add(node, weight)
                node = below
                path.append(node)
            self.queues[node].append(queue)
            self.paths[queue.name] = tuple(path)

    def node_of(self, queue: Queue) -> int:
        """The node under which the jobs of a queue stand."""
        path = self.paths[queue.name]
        return path[-1] if path else 0

    def _add(self, parent: int, weight: float) -> int:
        node = len(self.parent)
        self.parent.append(parent)
        self.weight.append(weight)
        self.depth.append(self.depth[parent] + 1)
        self.children[parent].append(node)
        self.children.append([])
        self.queues.append([])
        return node


def steps(queue: Queue) -> Steps:
    """(name, weight) of each step below the root."""
    said = queue.obj.metadata.annotations
    names = said.get(HIERARCHY, "").split("/")[1:]
    weights = said.get(HIERARCHY_WEIGHTS, "").split("/")[1:]
    return tuple((name, _weight(weights, place)) for place, name in enumerate(names))


def _weight(weights: list[str], place: int) -> float:
    try:
        weight = float(weights[place])
    except (IndexError, ValueError):
        return 1.0
    return weight if weight >= 1 else 1.0
