"""The deliberate differences to the reference, each with its switch (design-notes §7).

The configuration key `compatibility:`, which the reference ignores, holds `profile: default | reference`
and any switch by name; a switch named there wins over the profile. A field of `Compatibility` is one
switch; its metadata hold the key of the file, the reference's value and, in a sentence, what it is about.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

PROFILES = ("default", "reference")
Profile = Literal["default", "reference"]


def _switch(key: str, default: Any, reference: Any, why: str) -> Any:
    return dataclasses.field(default=default, metadata={"key": key, "reference": reference, "why": why})


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility:
    """The switches in force. A boolean is true where the reference's way is taken."""

    profile: Profile = "default"
    victim_restart: bool = _switch(
        "victimRestart",
        False,
        True,
        "An empty intersection of the victim votes ends its tier; true: the next plugin of the tier starts anew.",
    )
    victim_veto: Literal["protective", "tier"] = _switch(
        "victimVeto",
        "protective",
        "tier",
        "Critical pods and those of kube-system are never victims, preempt takes lower priorities only, and reclaim "
        "leaves a queue what it deserves, whatever the tiers say; tier: the next tier may overrule an empty answer.",
    )
    evict_unchecked: bool = _switch(
        "evictUnchecked",
        False,
        True,
        "All filters are asked again on the node without the victims before they are evicted, and their room is kept "
        "for whom it was made; true: reclaim and topology-aware preempt do not ask, others may take the room, and "
        "victims may die in vain.",
    )
    reclaim_node_order: Literal["cheapest", "rotating"] = _switch(
        "reclaimNodeOrder",
        "cheapest",
        "rotating",
        "Reclaim takes the node with the fewest and lowest victims, then the best score; "
        "rotating: the first node of a rotating order.",
    )
    preempt_no_reprieve: bool = _switch(
        "preemptNoReprieve",
        False,
        True,
        "Preempt spares victims whose room is not needed, and commits inside a job only if pipelined; "
        "true: every victim taken is kept.",
    )
    node_sampling: bool = _switch(
        "nodeSampling",
        False,
        True,
        "Every node is examined unless a percentage is given; true: above 100 nodes an adaptive share of them.",
    )
    role_skip: bool = _switch(
        "roleSkip",
        False,
        True,
        "A failed pod lets pods of the same shape be skipped; true: all pods of its role, even where they differ.",
    )
    unresolved_topology: Literal["ignore", "pend"] = _switch(
        "unresolvedTopology",
        "ignore",
        "ignore",
        "A hard topology with an unknown tier name or none is placed freely, with a warning and a condition; "
        "pend: the job waits.",
    )
    queue_fault_blocks_all: bool = _switch(
        "queueFaultBlocksAll",
        False,
        True,
        "A queue without its parent, in a loop, or with jobs and child queues holds back its own jobs; "
        "true: those of all queues.",
    )
    stateless_queue_closed: bool = _switch(
        "statelessQueueClosed",
        False,
        True,
        "A queue without a state counts as Open; true: as closed.",
    )
    backfill_closed_queues: bool = _switch(
        "backfillClosedQueues",
        False,
        True,
        "Backfill leaves closed queues alone; true: it places their pods.",
    )
    reserve_all_replicas: bool = _switch(
        "reserveAllReplicas",
        False,
        True,
        "A gang that can only be pipelined holds room for its minimum; true: for all its replicas.",
    )
    gang_victim_scope: Literal["protective", "all"] = _switch(
        "gangVictimScope",
        "protective",
        "all",
        "The gang actions honour disruption budgets, cooldown and preemptionPolicy Never, need the minimum "
        "only and give back what is not needed; all: none of this.",
    )
    pdb_strict: bool = _switch(
        "pdbStrict",
        False,
        True,
        "A disruption budget is shared by all evictions of a session, pods under none are free, and shuffle "
        "only filters the victims of others; true: unlabelled pods are never evicted and each vote has the "
        "whole budget.",
    )
    single_pod_victims: bool = _switch(
        "singlePodVictims",
        False,
        True,
        "Where gang's eviction switch is off, the surplus above the minimum goes first and a gang that must "
        "fall below it goes whole; true: single pods go and the useless rest stays.",
    )
    unevict_running: bool = _switch(
        "unevictRunning",
        False,
        True,
        "An eviction that is undone gives the victim its former status; true: it becomes Running.",
    )
    bare_pods: Literal["schedule", "ignore"] = _switch(
        "barePods",
        "schedule",
        "ignore",
        "A pod without a PodGroup is scheduled through a group kept in the cache only; ignore: it is never placed.",
    )

    @classmethod
    def of(cls, profile: Profile = "default", **switches: Any) -> Compatibility:
        """The switches of a profile, some of them set by field name."""
        base = {s.field: s.reference for s in SWITCHES} if profile == "reference" else {}
        return cls(profile=profile, **(base | switches))


class CompatibilitySwitch(NamedTuple):
    """One switch as data, for the parser, `check-conf` and the documentation."""

    field: str  # of Compatibility
    key: str  # in scheduler.conf
    default: bool | str
    reference: bool | str
    values: tuple[bool | str, ...]
    why: str


def _described(field: dataclasses.Field[Any]) -> CompatibilitySwitch:
    default, meta = field.default, field.metadata
    assert isinstance(default, bool | str)
    values = (False, True) if isinstance(default, bool) else _literals(str(field.type))
    return CompatibilitySwitch(field.name, meta["key"], default, meta["reference"], values, meta["why"])


def _literals(annotation: str) -> tuple[str, ...]:
    inside = annotation.removeprefix("Literal[").removesuffix("]")
    return tuple(part.strip().strip("\"'") for part in inside.split(","))


SWITCHES = tuple(_described(f) for f in dataclasses.fields(Compatibility) if f.name != "profile")
BY_KEY = {switch.key: switch for switch in SWITCHES}


def read_switch(key: str, value: Any) -> bool | str:
    """The value of a known switch; ValueError tells which values it takes."""
    switch = BY_KEY[key]
    for allowed in switch.values:
        if type(value) is type(allowed) and value == allowed:
            return allowed
    takes = "true or false" if isinstance(switch.default, bool) else " or ".join(map(str, switch.values))
    raise ValueError(f"compatibility switch {key} is {value!r}; it takes {takes}")


def differences(compatibility: Compatibility) -> Mapping[str, bool | str]:
    """The switches, by key, that are not as the default profile has them."""
    current = {s.key: getattr(compatibility, s.field) for s in SWITCHES}
    return {s.key: current[s.key] for s in SWITCHES if current[s.key] != s.default}
