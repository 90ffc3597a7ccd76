"""Edges that random situations reach rarely: made by hand, judged by the oracle."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import product
from tests.cases.loader import Case

from .families import FAMILIES
from .judge import check
from .situations import Draw, Situation

Object = dict[str, Any]
PREEMPT = next(family for family in FAMILIES if family.name == "preempt")


def pod(name: str, job: str, requests: Object, node: str = "") -> Object:
    metadata = {"name": name, "namespace": "team", "uid": name}
    spec: Object = {"schedulerName": "volcano", "containers": [{"name": "main", "resources": {"requests": requests}}]}
    if node:
        spec["nodeName"] = node
    return {
        "kind": "Pod",
        "metadata": metadata | {"annotations": {"scheduling.k8s.io/group-name": job}},
        "spec": spec,
        "status": {"phase": "Running" if node else "Pending"},
    }


def group(name: str, phase: str) -> Object:
    metadata = {"name": name, "namespace": "team", "uid": f"group-{name}"}
    return {"kind": "PodGroup", "metadata": metadata, "spec": {"minMember": 1}, "status": {"phase": phase}}


def overdrawn_node(actions: list[str], requests: Object) -> Case:
    """A node on which more cpu is used than it has, and a pod that asks for none."""
    amounts = {"cpu": "2", "memory": "2Gi", "pods": "110"}
    situation = Situation(Draw(lambda strategy: 0), PREEMPT)
    objects: list[Object] = [
        {
            "kind": "Queue",
            "metadata": {"name": "default", "uid": "q"},
            "spec": {"weight": 1},
            "status": {"state": "Open"},
        },
        {
            "kind": "Node",
            "metadata": {"name": "node", "uid": "n"},
            "status": {"allocatable": amounts, "capacity": amounts},
        },
        group("old", "Running"),
        pod("old-0", "old", {"cpu": "3"}, "node"),
        group("new", "Inqueue"),
        pod("new-0", "new", requests),
    ]
    tiers = [{"plugins": [situation.entry(name) for name in tier]} for tier in PREEMPT.tiers[0]]
    data = {"name": "overdrawn", "scheduler": "volcano", "actions": actions, "objects": objects, "expect": {}}
    return Case("made/overdrawn", "overdrawn", data, tiers)


@pytest.mark.parametrize(
    ("actions", "requests"),
    [
        pytest.param(["allocate"], {"memory": "1Gi"}, id="allocate does not place a pod that asks for memory only"),
        pytest.param(["allocate", "preempt"], {}, id="preempt promises nothing to a pod that asks for nothing"),
        pytest.param(["allocate", "backfill"], {}, id="backfill does not ask and places it"),
    ],
)
def test_on_a_node_that_is_overdrawn(actions: list[str], requests: Object) -> None:
    """cpu and memory are compared also where they are not asked for (spec 04 §2.1)."""
    case = overdrawn_node(actions, requests)
    check(case, product.run(case, profile="reference"), "overdrawn")
