"""Random full clusters with a fixed demand, as plain data that shrinks, and the configurations played on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.actions.playing import LiveWorld

Obj = dict[str, Any]

HOST = "kubernetes.io/hostname"
CLASSES = {"low": 10, "mid": 50, "high": 100, "system-node-critical": None}

SHIPPED = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: false
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
    enablePreemptable: false
  - name: predicates
  - name: proportion
  - name: nodeorder
  - name: binpack
"""
ONE_TIER = """\
actions: "enqueue, allocate, backfill, preempt, reclaim"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: proportion
  - name: predicates
  - name: nodeorder
"""
LOOSE = """\
actions: "allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: conformance}, {name: gang, enablePreemptable: false, enableReclaimable: false}]
- plugins: [{name: drf}, {name: predicates}, {name: proportion}, {name: nodeorder}]
"""
CAPACITY = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false, enableReclaimable: false}, {name: conformance}]
- plugins: [{name: drf, enablePreemptable: false}, {name: predicates}, {name: capacity}, {name: nodeorder}]
"""
CAPACITY_ONE_TIER = """\
actions: "enqueue, allocate, reclaim, backfill"
tiers:
- plugins: [{name: gang, enableReclaimable: false}, {name: conformance}, {name: capacity}, {name: predicates}]
"""
TREE = """\
actions: "enqueue, allocate, preempt, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enablePreemptable: false}, {name: conformance}]
- plugins: [{name: capacity, enableHierarchy: true}, {name: predicates}, {name: nodeorder}]
"""
UNWEIGHED = """\
actions: "enqueue, allocate, reclaim, backfill"
tiers:
- plugins: [{name: priority}, {name: gang, enableReclaimable: false}, {name: conformance}]
- plugins: [{name: drf}, {name: predicates}, {name: nodeorder}]
"""
TOPOLOGY_AWARE = (
    SHIPPED
    + """\
configurations:
- name: preempt
  arguments:
    enableTopologyAwarePreemption: true
"""
)
CONFIGURATIONS = {
    "shipped": SHIPPED,
    "one tier": ONE_TIER,
    "loose": LOOSE,
    "capacity": CAPACITY,
    "capacity in one tier": CAPACITY_ONE_TIER,
    "tree": TREE,
    "topology-aware": TOPOLOGY_AWARE,
    "no shares": UNWEIGHED,
}


@dataclass(frozen=True)
class Gang:
    """One job; `on` are nodes (by number) on which its first pods run already, where they still fit."""

    queue: int
    pods: int
    least: int
    cpu: int
    memory: int
    priority: str
    rule: str = ""
    on: tuple[int, ...] = ()


@dataclass(frozen=True)
class Situation:
    conf: str
    nodes: tuple[tuple[int, int], ...]  # cpu, memory in Gi
    queues: tuple[Obj, ...]
    gangs: tuple[Gang, ...]
    leave_after: int = 1
    seed: int = field(default=0)

    def world(self) -> LiveWorld:
        """The cluster before its first session."""
        world = LiveWorld(CONFIGURATIONS[self.conf], leave_after=self.leave_after, seed=self.seed)
        for name, value in CLASSES.items():
            if value is not None:
                world.priority_class(name, value)
        for number, (cpu, memory) in enumerate(self.nodes):
            world.node(f"n{number}", cpu=cpu, memory=f"{memory}Gi")
        if self.conf == "tree":
            world.queue("root")
            world.queue("team", parent="root", deserved={"cpu": 4, "memory": "4Gi"})
        for number, spec in enumerate(self.queues):
            parent = {"parent": "team" if number < 2 else "root"} if self.conf == "tree" else {}
            world.queue(f"q{number}", **spec, **parent)
        room = [list(amounts) for amounts in self.nodes]
        for number, gang in enumerate(self.gangs):
            _submit(world, f"g{number}", gang, len(self.queues), room)
        return world


def number_of(name: str) -> int:
    return int(name[1:])


def _submit(world: LiveWorld, name: str, gang: Gang, queues: int, room: list[list[int]]) -> None:
    places = []
    for node in gang.on[: gang.pods]:
        free = room[node % len(room)]
        if free[0] >= gang.cpu and free[1] >= gang.memory:
            free[0] -= gang.cpu
            free[1] -= gang.memory
            places.append(f"n{node % len(room)}")
    if len(places) < gang.least:
        for place in places:
            room[int(place[1:])][0] += gang.cpu
            room[int(place[1:])][1] += gang.memory
        places = []
    options: Obj = {"labels": {"app": name}}
    if gang.rule == "apart":
        term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": name}}}
        options["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif gang.rule == "hates first":
        term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "g0"}}}
        options["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif gang.rule == "port":
        options["ports"] = [8080]
    elif gang.rule == "spread":
        options["spread"] = HOST
    elif gang.rule == "stays":
        options["annotations"] = {"volcano.sh/preemptable": "false"}
    world.gang(
        name,
        pods=gang.pods,
        min_member=gang.least,
        queue=f"q{gang.queue % queues}",
        cpu=gang.cpu or None,
        memory=f"{gang.memory}Gi" if gang.memory else None,
        priority_class=gang.priority,
        phase="Running" if places else None,
        min_resources="auto" if number_of(name) % 3 == 0 else None,
        on=places,
        **options,
    )


def _queue() -> st.SearchStrategy[Obj]:
    amounts = st.fixed_dictionaries({"cpu": st.integers(1, 6), "memory": st.sampled_from(["1Gi", "3Gi", "6Gi"])})
    few = st.fixed_dictionaries({"cpu": st.integers(1, 2)})
    return st.fixed_dictionaries(
        {"weight": st.integers(1, 3), "deserved": amounts},
        optional={
            "guarantee": few,
            "capability": st.fixed_dictionaries({"cpu": st.integers(3, 8)}),
            "reclaimable": st.booleans(),
            "priority": st.integers(0, 2),
        },
    )


def _gangs(**fixed: st.SearchStrategy[Any]) -> st.SearchStrategy[Gang]:
    def of_size(pods: int) -> st.SearchStrategy[Gang]:
        fields = {
            "queue": st.integers(0, 2),
            "pods": st.just(pods),
            "least": st.integers(1, pods),
            "cpu": st.sampled_from([1, 1, 1, 2, 2, 3, 0]),
            "memory": st.sampled_from([0, 1, 1, 2, 4]),
            "priority": st.sampled_from([*CLASSES, "low", "high", "mid"]),
            "rule": st.sampled_from(["", "", "", "", "", "", "apart", "hates first", "port", "spread", "stays"]),
        }
        return st.builds(Gang, **(fields | fixed))

    return st.integers(1, 4).flatmap(of_size)


_places = st.lists(st.integers(0, 2), min_size=4, max_size=4).map(tuple)
_there = _gangs(on=_places, priority=st.sampled_from(["low", "low", "mid", "high", "system-node-critical"]))
_waiting = _gangs(on=st.just(()))


def situations(*confs: str) -> st.SearchStrategy[Situation]:
    """Small clusters under one of these configurations (default: any)."""
    return st.builds(
        Situation,
        conf=st.sampled_from(confs or tuple(CONFIGURATIONS)),
        nodes=st.lists(st.tuples(st.integers(2, 4), st.integers(4, 8)), min_size=1, max_size=3).map(tuple),
        queues=st.lists(_queue(), min_size=2, max_size=3).map(tuple),
        gangs=st.tuples(
            st.lists(_there, min_size=2, max_size=6).map(tuple), st.lists(_waiting, min_size=1, max_size=4).map(tuple)
        ).map(lambda both: both[0] + both[1]),
        leave_after=st.integers(0, 3),
        seed=st.integers(0, 3),
    )
