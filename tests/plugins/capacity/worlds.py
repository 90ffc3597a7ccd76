"""Worlds with the capacity plugin, and the words in which the specification tells its stories."""

from __future__ import annotations

from tests.harness import SessionWorld

GPU = "nvidia.com/a100"


def world_of(
    *, tree: bool = False, level: int = 0, actions: str = "enqueue, allocate", compat: str = "{}"
) -> SessionWorld:
    """capacity in a tier of its own behind gang's starving test, as the stories of spec 05 §20.4-20.5 have it."""
    return SessionWorld(
        f"""
actions: "{actions}"
compatibility: {compat}
tiers:
- plugins:
  - name: gang
    enablePreemptable: false
    enableReclaimable: false
- plugins:
  - name: capacity
    enableHierarchy: {str(tree).lower()}
    arguments: {{ancestorReclaimLevel: {level}}}
  - name: predicates
"""
    )


def firm() -> dict[str, dict[str, str]]:
    """Options of pods that must not be preempted."""
    return {"annotations": {"volcano.sh/preemptable": "false"}}
