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
        fields = {"PodGroup.subGroupPolicy"} if "subgroups" in self.shows else set[str]()
        return not (
            plugins & missing.plugins
            or actions & missing.actions
            or switches & missing.switches
            or fields & missing.fields
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
)


def built() -> list[Family]:
    """The families that the product can run."""
    return [family for family in FAMILIES if family.is_built]
