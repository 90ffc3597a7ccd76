"""The situations that several benchmarks share, built with the World that tests and demo use.

Nodes have 32 CPUs and 128 GiB, pods ask 1 CPU and 1 GiB unless said otherwise, as in the measurements of the
reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vcsched.simulator.world import World

CPU, MEMORY = 32, "128Gi"
SCHEDULED = {
    "type": "Scheduled",
    "status": "True",
    "reason": "tasks in gang are ready to be scheduled",
    "message": "",
    "transitionID": "00000000-0000-4000-8000-000000000000",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
}
LABEL_VALUES = 20


def empty(nodes: int) -> World:
    """Equal nodes and a queue."""
    world = World()
    world.queue("default")
    world.nodes(nodes, cpu=CPU, memory=MEMORY)
    return world


def waiting(nodes: int, gangs: int, pods: int) -> World:
    """Equal gangs that wait on empty nodes."""
    world = empty(nodes)
    for number in range(gangs):
        world.gang(f"g{number}", pods=pods, cpu=1, memory="1Gi")
    return world


def running(nodes: int, pods: int, groups: int) -> World:
    """A cluster at work: all pods run, dealt out over nodes and PodGroups, every status is as it should be."""
    world = empty(nodes)
    first = 0
    for number in range(groups):
        size = pods // groups + (number < pods % groups)
        on = [f"n-{(first + index) % nodes}" for index in range(size)]
        gang = world.running(f"r{number}", on=on, min_member=size, cpu=1, memory="1Gi")
        gang.group["status"] |= {"running": size, "conditions": [SCHEDULED]}
        first += size
    return world


def full(nodes: int, *, queue: str = "default", per_gang: int = 32, **options: Any) -> World:
    """Every node full of one-CPU pods; each gang's minimum is one, so that all but one of its pods may go."""
    world = World()
    world.queue(queue)
    world.nodes(nodes, cpu=CPU, memory=MEMORY)
    world.priority_class("low", 10)
    world.priority_class("high", 1000)
    for number in range(nodes):
        gang = world.running(
            f"low{number}",
            on=f"n-{number}",
            pods=per_gang,
            min_member=1,
            cpu=1,
            memory="1Gi",
            queue=queue,
            priority_class="low",
            **options,
        )
        gang.group["status"] |= {"running": per_gang, "conditions": [SCHEDULED]}
    return world


def mixed(nodes: int, gangs: int, pods: int) -> World:
    """Zones, racks, taints and 20 label values; a third of the gangs each with soft spread over zones and
    hosts, anti-affinity by host, and node affinity with tolerations."""
    world = World()
    world.queue("default")
    dealt: dict[str, str | Sequence[str]] = {
        "topology.kubernetes.io/zone": [f"zone-{n}" for n in range(3)],
        "example.com/rack": [f"rack-{n}" for n in range(100)],
        "example.com/kind": [f"kind-{n}" for n in range(LABEL_VALUES)],
    }
    tainted = nodes // 5
    world.nodes(nodes - tainted, cpu=CPU, memory=MEMORY, labels=dealt)
    world.nodes(tainted, prefix="t", cpu=CPU, memory=MEMORY, labels=dealt, taints=["dedicated=batch:NoSchedule"])
    for number in range(gangs):
        name = f"m{number}"
        labels = {"app": name}
        selector = {"matchLabels": labels}
        if number % 3 == 0:
            spread = [
                {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": selector}
                for key in ("topology.kubernetes.io/zone", "kubernetes.io/hostname")
            ]
            world.gang(name, pods=pods, cpu=1, memory="1Gi", labels=labels, spread=spread)
        elif number % 3 == 1:
            term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
            apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
            world.gang(name, pods=pods, cpu=1, memory="1Gi", labels=labels, affinity=apart)
        else:
            values = [f"kind-{(number + step) % LABEL_VALUES}" for step in range(4)]
            kinds = {"matchExpressions": [{"key": "example.com/kind", "operator": "In", "values": values}]}
            near = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [kinds]}}
            world.gang(
                name,
                pods=pods,
                cpu=1,
                memory="1Gi",
                labels=labels,
                affinity={"nodeAffinity": near},
                tolerations=["dedicated=batch:NoSchedule"],
            )
    return world
