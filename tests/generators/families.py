"""Families of situations: which actions and plugins take part, and what the objects show."""

from __future__ import annotations

from dataclasses import dataclass

from tests.cases.needs import not_yet

Tiers = tuple[tuple[str, ...], ...]

DEFAULT: Tiers = (
    ("priority", "gang", "conformance"),
    ("overcommit", "drf", "predicates", "proportion", "nodeorder", "binpack"),
)
CAPACITY: Tiers = (
    ("priority", "gang", "conformance"),
    ("overcommit", "drf", "predicates", "capacity", "nodeorder", "binpack"),
)
TOPOLOGY: Tiers = (
    ("priority", "gang"),
    ("drf", "predicates", "proportion", "nodeorder", "network-topology-aware"),
)

# what a family shows -> what the product must have built for it
NEEDED_FIELDS = {"subgroups": "PodGroup.subGroupPolicy", "hyper-nodes": "PodGroup.networkTopology"}
NEEDED_KINDS = {"hyper-nodes": "HyperNode"}


@dataclass(frozen=True)
class Family:
    """`shows` names what objects may have beyond the plain (situations.py); `switches` are set on every entry."""

    name: str
    actions: tuple[tuple[str, ...], ...]
    tiers: tuple[Tiers, ...]
    shows: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()

    @property
    def is_built(self) -> bool:
        """Whether the product has everything that the family always or sometimes needs."""
        missing = not_yet()
        plugins = {name for tiers in self.tiers for tier in tiers for name in tier}
        actions = {name for actions in self.actions for name in actions}
        switches = {f"{plugin}.{switch}" for plugin in plugins for switch in self.switches}
        fields = {field for shown, field in NEEDED_FIELDS.items() if shown in self.shows}
        kinds = {kind for shown, kind in NEEDED_KINDS.items() if shown in self.shows}
        return not (
            plugins & missing.plugins
            or actions & missing.actions
            or switches & missing.switches
            or fields & missing.fields
            or kinds & missing.kinds
        )


ADMIT_AND_PLACE = (("enqueue", "allocate", "backfill"), ("allocate", "backfill"))

FAMILIES = (
    Family(
        "gang",
        ADMIT_AND_PLACE,
        (DEFAULT, (("priority", "gang"), ("predicates", "nodeorder"))),
        frozenset({"roles", "gates", "best-effort", "placed", "terminating", "edges"}),
    ),
    Family(
        "queues",
        ADMIT_AND_PLACE,
        (DEFAULT, (("gang",), ("drf", "proportion", "predicates", "nodeorder"))),
        frozenset({"queues", "limits", "min-resources", "placed", "scalars", "priorities", "edges"}),
    ),
    Family(
        "wishes",
        (("enqueue", "allocate", "backfill"),),
        (DEFAULT,),
        frozenset(
            {"roles", "placed", "labels", "taints", "selectors", "pod-affinity", "ports", "spread", "best-effort"}
        ),
    ),
    Family(
        "scores",
        (("allocate",),),
        ((("gang",), ("predicates", "nodeorder")), (("gang",), ("predicates", "binpack")), DEFAULT),
        frozenset({"placed", "labels", "taints", "selectors", "pod-affinity", "spread", "scalars", "weights"}),
    ),
    Family(
        "switches",
        ADMIT_AND_PLACE,
        (DEFAULT,),
        frozenset({"queues", "roles", "best-effort", "placed", "priorities", "min-resources", "switched-off"}),
    ),
    Family(
        "subgroups",
        (("enqueue", "allocate", "backfill"),),
        (DEFAULT,),
        frozenset({"subgroups", "placed", "best-effort", "priorities"}),
    ),
    Family(
        "preempt",
        (("allocate", "preempt"), ("enqueue", "allocate", "preempt", "backfill")),
        (DEFAULT, (("priority", "gang", "conformance"), ("predicates", "nodeorder"))),
        frozenset({"priorities", "placed", "victims", "roles", "best-effort", "terminating"}),
    ),
    Family(
        "reclaim",
        (("allocate", "reclaim"), ("enqueue", "allocate", "reclaim", "backfill")),
        (DEFAULT, CAPACITY),
        frozenset({"queues", "limits", "priorities", "placed", "victims", "terminating"}),
    ),
    Family(
        "capacity",
        ADMIT_AND_PLACE,
        (CAPACITY,),
        frozenset({"queues", "limits", "min-resources", "placed", "scalars", "edges"}),
    ),
    Family(
        "fair-hierarchy",
        ADMIT_AND_PLACE,
        ((("priority", "gang"), ("drf", "predicates", "nodeorder")),),
        frozenset({"queues", "hierarchy", "placed", "priorities"}),
        frozenset({"enableHierarchy"}),
    ),
    Family(
        "budgets",
        (("allocate", "preempt"), ("allocate", "reclaim")),
        ((("priority", "gang", "conformance", "pdb"), ("drf", "predicates", "proportion", "nodeorder")),),
        frozenset({"queues", "priorities", "placed", "victims", "budgets"}),
    ),
    Family(
        "node-groups",
        (("allocate", "backfill"),),
        ((("priority", "gang"), ("drf", "predicates", "proportion", "nodegroup", "binpack")),),
        frozenset({"queues", "placed", "node-groups"}),
    ),
    Family(
        "strategy",
        (("allocate",),),
        ((("priority", "gang"), ("predicates", "resource-strategy-fit")),),
        frozenset({"placed", "scalars"}),
    ),
    Family(
        "gang-evict",
        (("gangpreempt",), ("gangreclaim",), ("allocate", "gangpreempt"), ("allocate", "gangreclaim")),
        (CAPACITY, DEFAULT),
        frozenset({"queues", "limits", "priorities", "placed", "victims", "roles", "subgroups"}),
    ),
    Family(
        "topology",
        (("allocate",),),
        (TOPOLOGY,),
        frozenset({"placed", "hyper-nodes", "subgroups", "priorities"}),
    ),
)


def built() -> list[Family]:
    """The families that the product can run."""
    return [family for family in FAMILIES if family.is_built]
