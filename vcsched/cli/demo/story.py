"""What the demo submits, and what must come of it.

Sizes follow the number of nodes, so that the picture is the same at 50 and at 3,000: two queues of weight 2
and 1 that together ask for a sixth more than there is, a queue whose limit lets half of its gangs in, a gang
that fits no node, and pods that know nothing of gangs. All of it stays below what admission lets in (1.2 times
the cluster), so that the shares are decided by weight and not by who came first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from vcsched.simulator.fragments import Obj
from vcsched.simulator.world import World

SET = "demo.vcsched.io/set"
"""Label of every pod of the demo: the set it belongs to."""

NODE_CPU = 8
LEAST_NODES = 50

RESEARCH, BATCH, CAPPED, DEFAULT = "research", "batch", "capped", "default"


@dataclass(frozen=True, slots=True)
class Set:
    """Equal gangs, or pods without a gang (`size` 1); between `least` and `most` of them must be placed."""

    name: str
    queue: str
    gangs: int
    size: int
    least: int
    most: int
    shows: str

    @property
    def pods(self) -> int:
        return self.gangs * self.size


class Story:
    """The objects, and the sets by name. The cluster's nodes are in `nodes`, what users submit in `submitted`."""

    def __init__(self, nodes: int) -> None:
        world = World(start=datetime.now(UTC))
        self.nodes: list[Obj] = world.nodes(nodes, cpu=NODE_CPU)
        self.sets: dict[str, Set] = {}
        room = nodes * NODE_CPU
        gang = room // 48  # pods of a gang in the two big queues
        small = gang // 2
        bare = 5
        giant = 2 * (NODE_CPU + 1)  # its queue deserves this as long as it asks
        left = room - 2 * small - small - bare - giant  # for the two big queues, by weight
        world.queue(RESEARCH, weight=2, state=None)
        world.queue(BATCH, weight=1, state=None)
        world.queue(CAPPED, capability={"cpu": 2 * small}, state=None)
        for name, queue, share, gangs in (("train", RESEARCH, left * 2 / 3, 34), ("crunch", BATCH, left / 3, 20)):
            fits = share / gang
            shows = f"{fits:.1f} gangs by weight"
            self._add(Set(name, queue, gangs, gang, math.floor(fits) - 1, math.ceil(fits), shows))
        self._add(Set("limited", CAPPED, 4, small, 2, 2, "2, the queue's limit"))
        self._add(Set("giant", DEFAULT, 1, 2, 0, 0, "0, larger than a node"))
        self._add(Set("web", DEFAULT, small, 1, small, small, "all, a ReplicaSet"))
        self._add(Set("bare", DEFAULT, bare, 1, bare, bare, "all, no PodGroup"))
        self._build(world)
        self.submitted: list[Obj] = world.objects(nodes)

    def _add(self, each: Set) -> None:
        self.sets[each.name] = each

    def _build(self, world: World) -> None:
        for name in ("train", "crunch", "limited"):
            each = self.sets[name]
            for number in range(each.gangs):
                gang = f"{name}-{number}"
                world.gang(gang, pods=each.size, queue=each.queue, cpu=1, memory="1Gi", labels={SET: name})
        giant = self.sets["giant"]
        world.gang("giant-0", pods=giant.size, queue=giant.queue, cpu=NODE_CPU + 1, labels={SET: "giant"})
        world.replica_set("web", self.sets["web"].gangs, make_pods=False, cpu=1, labels={SET: "web"})
        for number in range(self.sets["bare"].gangs):
            world.pod(f"bare-{number}", cpu=1, labels={SET: "bare"})

    @property
    def pods(self) -> int:
        return sum(each.pods for each in self.sets.values())
