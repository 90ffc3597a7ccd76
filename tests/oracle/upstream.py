"""Kubernetes' own placement rules, as upstream filters and scorers share them (spec 06 §2.8-2.16)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .node import Node
from .selectors import Object, expression_holds, has_requirements, labels_of, selects
from .task import Task

if TYPE_CHECKING:
    from .session import Session

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
ANY_ADDRESS = "0.0.0.0"

# ---- affinity terms


def _affinity(task: Task, kind: str, strength: str) -> list[Object]:
    return ((task.pod_spec.get("affinity") or {}).get(kind) or {}).get(strength) or []


def affinity_terms(task: Task) -> list[Object]:
    return _affinity(task, "podAffinity", REQUIRED)


def anti_affinity_terms(task: Task) -> list[Object]:
    return _affinity(task, "podAntiAffinity", REQUIRED)


def weighted_terms(task: Task) -> list[tuple[int, Object]]:
    """Preferred pod affinity terms with their weights, anti-affinity negative."""
    preferred = [(1, term) for term in _affinity(task, "podAffinity", PREFERRED)]
    preferred += [(-1, term) for term in _affinity(task, "podAntiAffinity", PREFERRED)]
    return [(sign * term["weight"], term["podAffinityTerm"]) for sign, term in preferred]


def has_pod_affinity(task: Task) -> bool:
    return bool(affinity_terms(task) or anti_affinity_terms(task) or weighted_terms(task))


def term_matches(term: Object, owner_namespace: str, task: Task) -> bool:
    """Whether a pod affinity term of a pod in that namespace means this task (spec 06 §2.12)."""
    namespaces = term.get("namespaces") or []
    if not namespaces and term.get("namespaceSelector") is None:
        namespaces = [owner_namespace]
    in_scope = task.namespace in namespaces or term.get("namespaceSelector") == {}
    return in_scope and selects(term.get("labelSelector"), task.labels)


# ---- node affinity (spec 06 §2.9)


def required_node_affinity(task: Task) -> Object | None:
    return ((task.pod_spec.get("affinity") or {}).get("nodeAffinity") or {}).get(REQUIRED)


def preferred_node_affinity(task: Task) -> list[Object]:
    return _affinity(task, "nodeAffinity", PREFERRED)


def node_term_matches(term: Object, node: Node) -> bool:
    """A node selector term; one without expressions matches nothing."""
    expressions, fields = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not expressions and not fields:
        return False
    if not all(expression_holds(expression, node.labels) for expression in expressions):
        return False
    for field in fields:
        values = field.get("values") or []
        if field["key"] != "metadata.name" or len(values) != 1:
            return False
        if (field["operator"] == "In") != (node.name == values[0]):
            return False
    return True


def matches_node_affinity(task: Task, node: Node) -> bool:
    selector = task.pod_spec.get("nodeSelector") or {}
    if any(node.labels.get(key) != value for key, value in selector.items()):
        return False
    required = required_node_affinity(task)
    if required is None:
        return True
    return any(node_term_matches(term, node) for term in required.get("nodeSelectorTerms") or [])


# ---- taints (spec 06 §2.10)


def tolerations(task: Task) -> list[Object]:
    return task.pod_spec.get("tolerations") or []


def tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    operator = toleration.get("operator") or "Equal"
    if not toleration.get("key"):
        return operator == "Exists"
    if toleration["key"] != taint["key"]:
        return False
    same_value = (toleration.get("value") or "") == (taint.get("value") or "")
    return operator == "Exists" or (operator == "Equal" and same_value)


def tolerates_hard_taints(task: Task, node: Node) -> bool:
    hard = [taint for taint in node.taints if taint.get("effect") in ("NoSchedule", "NoExecute")]
    return all(any(tolerates(toleration, taint) for toleration in tolerations(task)) for taint in hard)


# ---- host ports (spec 06 §2.11)


def host_ports(task: Task) -> list[tuple[str, str, int]]:
    """(address, protocol, port) of every host port asked for."""
    sidecars = [c for c in task.pod_spec.get("initContainers") or [] if c.get("restartPolicy") == "Always"]
    return [
        (port.get("hostIP") or ANY_ADDRESS, port.get("protocol") or "TCP", port["hostPort"])
        for container in [*(task.pod_spec.get("containers") or []), *sidecars]
        for port in container.get("ports") or []
        if port.get("hostPort", 0) > 0
    ]


def ports_clash(left: tuple[str, str, int], right: tuple[str, str, int]) -> bool:
    same_address = left[0] == right[0] or ANY_ADDRESS in (left[0], right[0])
    return left[1:] == right[1:] and same_address


# ---- topology spread (spec 06 §2.16, §3.7)


def spread_constraints(task: Task, when: str) -> list[Object]:
    return [c for c in task.pod_spec.get("topologySpreadConstraints") or [] if c["whenUnsatisfiable"] == when]


def spread_selector(task: Task, constraint: Object) -> Object | None:
    """The constraint's selector with its `matchLabelKeys` filled from the pod."""
    selector = constraint.get("labelSelector")
    if selector is None:
        return None
    keys = [key for key in constraint.get("matchLabelKeys") or [] if key in task.labels]
    extra = [{"key": key, "operator": "In", "values": [task.labels[key]]} for key in keys]
    return {
        "matchLabels": selector.get("matchLabels"),
        "matchExpressions": (selector.get("matchExpressions") or []) + extra,
    }


def spread_count(session: Session, task: Task, constraint: Object, node_name: str) -> int:
    """Pods on the node that the constraint counts."""
    selector = spread_selector(task, constraint)
    if selector is None or not has_requirements(selector):
        return 0
    return sum(
        pod.namespace == task.namespace and not pod.terminating and selects(selector, labels_of(pod.pod))
        for pod in session.view[node_name]
    )


def spread_includes(task: Task, constraint: Object, node: Node) -> bool:
    """The constraint's inclusion policies."""
    if (constraint.get("nodeAffinityPolicy") or "Honor") == "Honor" and not matches_node_affinity(task, node):
        return False
    honors_taints = (constraint.get("nodeTaintsPolicy") or "Ignore") == "Honor"
    return not honors_taints or tolerates_hard_taints(task, node)
