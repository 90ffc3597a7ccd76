"""The objects of a drawn cluster: queues, nodes, disruption budgets, HyperNodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .situations import Situation

Object = dict[str, Any]

GPU = "example.com/gpu"
ROLES = ("worker", "ps", "chief")
ZONES = ("east", "west")
GROUPS = ("blue", "green")
GROUP_KINDS = ("nodeGroupAffinity", "nodeGroupAntiAffinity")


def queues(at: Situation) -> list[str]:
    least, most = (2 if at.shows("victims") else 1, 3) if at.shows("queues") else (1, 1)
    names = ["default", "q1", "q2"][: at.draw.number(least, most)]
    branches = {branch: at.draw.number(1, 3) for branch in ("a", "b")} if at.shows("hierarchy") else {}
    for name in names:
        spec: Object = {"weight": at.draw.number(1, 3)}
        if at.shows("limits"):
            if at.draw.once_in(3):
                spec["capability"] = limit(at)
            if at.draw.once_in(3) or (at.shows("victims") and at.draw.once_in(2)):
                spec["deserved"] = limit(at)
            if at.draw.once_in(4):
                spec["guarantee"] = {"resource": limit(at)}
        if at.shows("priorities") and at.draw.once_in(4):
            spec["priority"] = at.draw.number(1, 2)
        if at.shows("victims") and at.draw.once_in(4):
            spec["reclaimable"] = False
        if at.shows("node-groups") and not at.draw.once_in(4):
            spec["affinity"] = {kind: group_affinity(at) for kind in GROUP_KINDS if not at.draw.once_in(3)}
        state = "Closed" if at.shows("edges") and at.draw.once_in(8) else "Open"
        queue = at.add("scheduling.volcano.sh/v1beta1", "Queue", name, spec=spec, status={"state": state})
        if at.shows("hierarchy"):
            branch = at.draw.pick(tuple(branches))
            queue["metadata"]["annotations"] = {
                "volcano.sh/hierarchy": f"root/{branch}/{name}",
                "volcano.sh/hierarchy-weights": f"1/{branches[branch]}/{at.draw.number(1, 3)}",
            }
    return [*names, "missing"] if at.shows("edges") and at.draw.once_in(6) else names


def group_affinity(at: Situation) -> Object:
    strength = at.draw.pick(("required", "preferred"))
    groups = [at.draw.pick(GROUPS) for _ in range(at.draw.number(1, 2))]
    return {f"{strength}DuringSchedulingIgnoredDuringExecution": groups}


def budget(at: Situation) -> None:
    """A disruption budget over the pods of one role."""
    spec = {"selector": {"matchLabels": {"app": at.draw.pick(ROLES)}}}
    status = {"disruptionsAllowed": at.draw.number(0, 2)}
    at.add("policy/v1", "PodDisruptionBudget", "budget", "team", spec=spec, status=status)


def hyper_nodes(at: Situation, nodes: list[str]) -> None:
    """Two leaves that share the nodes, and perhaps a spine above them."""
    leaves: dict[str, list[str]] = {"leaf-1": [], "leaf-2": []}
    for node in nodes:
        if not at.draw.once_in(6):
            leaves[at.draw.pick(tuple(leaves))].append(node)
    trees = [(name, 1, "Node", members) for name, members in leaves.items()]
    if at.draw.once_in(2):
        trees.append(("spine", 2, "HyperNode", list(leaves)))
    for name, tier, kind, members in trees:
        listed = [{"type": kind, "selector": {"exactMatch": {"name": member}}} for member in members]
        spec = {"tier": tier, "members": listed}
        at.add("topology.volcano.sh/v1alpha1", "HyperNode", name, spec=spec)


def limit(at: Situation) -> Object:
    limit: Object = {"cpu": str(at.draw.number(1, 8))}
    if at.draw.once_in(2):
        limit["memory"] = f"{at.draw.number(1, 8)}Gi"
    if at.shows("scalars") and at.draw.once_in(3):
        limit[GPU] = str(at.draw.number(0, 4))
    return limit


def node(at: Situation, number: int) -> str:
    draw, name = at.draw, f"node-{number + 1}"
    most = 4 if at.shows("victims") else 8
    amounts: Object = {"cpu": str(draw.number(2, most)), "memory": f"{draw.number(2, 8)}Gi", "pods": "110"}
    if at.shows("scalars") and draw.once_in(2):
        amounts[GPU] = str(draw.number(0, 4))
    if at.shows("edges") and draw.once_in(6):
        amounts["pods"] = str(draw.number(0, 2))
    labels = {"kubernetes.io/hostname": name}
    if at.shows("labels"):
        labels["disk"] = draw.pick(("ssd", "hdd"))
        if not draw.once_in(6):
            labels["zone"] = draw.pick(ZONES)
    if at.shows("node-groups") and not draw.once_in(6):
        labels["volcano.sh/nodegroup-name"] = draw.pick(GROUPS)
    spec: Object = {}
    if at.shows("taints") and draw.once_in(3):
        effect = draw.pick(("PreferNoSchedule", "NoSchedule", "NoExecute"))
        spec["taints"] = [{"key": "dedicated", "value": draw.pick(("a", "b")), "effect": effect}]
    if at.shows("edges") and draw.once_in(8):
        spec["unschedulable"] = True
    ready = [{"type": "Ready", "status": "True"}]
    status = {"allocatable": amounts, "capacity": amounts, "conditions": ready}
    node = at.add("v1", "Node", name, spec=spec, status=status)
    node["metadata"]["labels"] = labels
    return name
