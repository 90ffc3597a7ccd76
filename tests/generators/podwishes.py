"""What a drawn pod may wish of its node: selectors, tolerations, affinity, ports, spread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .situations import Draw

Object = dict[str, Any]

KEYS = ("zone", "kubernetes.io/hostname")
APPS = ("worker", "ps", "chief")


def add_wishes(pod: Object, draw: Draw, shows: frozenset[str]) -> None:
    """Give the pod some of the wishes that the family shows."""
    spec = pod["spec"]
    if "selectors" in shows:
        if draw.once_in(5):
            spec["nodeSelector"] = {"disk": draw.pick(("ssd", "hdd"))}
        if draw.once_in(5):
            spec.setdefault("affinity", {})["nodeAffinity"] = node_affinity(draw)
    if "taints" in shows and draw.once_in(3):
        spec["tolerations"] = [toleration(draw)]
    if "pod-affinity" in shows and draw.once_in(4):
        kind = draw.pick(("podAntiAffinity", "podAffinity"))
        spec.setdefault("affinity", {})[kind] = pod_affinity(draw)
    if "ports" in shows and draw.once_in(5):
        spec["containers"][0]["ports"] = [port(draw)]
    if "spread" in shows and draw.once_in(4):
        spec["topologySpreadConstraints"] = [spread(draw)]


def node_affinity(draw: Draw) -> Object:
    if draw.once_in(2):
        expression = {"key": "zone", "operator": draw.pick(("In", "NotIn")), "values": ["east"]}
        terms = [{"matchExpressions": [expression]}]
        return {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    expression = {"key": "disk", "operator": "In", "values": ["ssd"]}
    preference = {"weight": draw.number(1, 100), "preference": {"matchExpressions": [expression]}}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}


def toleration(draw: Draw) -> Object:
    value = draw.pick(("a", "b", ""))
    wish: Object = {"key": "dedicated", "operator": "Equal", "value": value}
    if not value:
        wish = {"operator": "Exists"}
    effect = draw.pick(("", "NoSchedule", "PreferNoSchedule"))
    return wish | ({"effect": effect} if effect else {})


def pod_affinity(draw: Draw) -> Object:
    term = {"topologyKey": draw.pick(KEYS), "labelSelector": {"matchLabels": {"app": draw.pick(APPS)}}}
    if draw.once_in(2):
        weighted = {"weight": draw.number(1, 100), "podAffinityTerm": term}
        return {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}
    return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}


def port(draw: Draw) -> Object:
    wish: Object = {"containerPort": 80, "hostPort": draw.pick((8080, 9090))}
    if draw.once_in(3):
        wish["hostIP"] = draw.pick(("10.0.0.1", "10.0.0.2"))
    if draw.once_in(4):
        wish["protocol"] = "UDP"
    return wish


def spread(draw: Draw) -> Object:
    constraint: Object = {
        "maxSkew": draw.number(1, 2),
        "topologyKey": draw.pick(KEYS),
        "whenUnsatisfiable": draw.pick(("ScheduleAnyway", "DoNotSchedule")),
        "labelSelector": {"matchLabels": {"app": draw.pick(APPS)}},
    }
    if draw.once_in(4):
        constraint["nodeTaintsPolicy"] = draw.pick(("Ignore", "Honor"))
    if draw.once_in(4):
        constraint["nodeAffinityPolicy"] = draw.pick(("Honor", "Ignore"))
    if draw.once_in(4) and constraint["whenUnsatisfiable"] == "DoNotSchedule":
        constraint["minDomains"] = draw.number(1, 3)
    if draw.once_in(5):
        constraint["matchLabelKeys"] = ["app"]
        constraint["labelSelector"] = {}
    return constraint
