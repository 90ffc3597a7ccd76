"""Pieces of Kubernetes objects that the World builder puts together: amounts, taints, tolerations, pod specs.

Everything here is a pure function from short Python values to plain JSON dicts, with the shorthands that make
a test readable: `cpu=0.5`, `"gpu=only:NoSchedule"`, `spread="topology.kubernetes.io/zone"`. Where a shorthand
does not reach, the raw API dict is accepted as well. It checks nothing that the API server would check.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypedDict

Obj = dict[str, Any]
Amount = int | float | str

_SUFFIXES = {"m": Decimal("0.001"), "": Decimal(1)} | {
    letter + tail: Decimal(base**power)
    for power, letter in enumerate(("k", "M", "G", "T", "P", "E"), start=1)
    for tail, base in (("", 1000), ("i", 1024))
}
_SUFFIXES["Ki"] = _SUFFIXES.pop("ki")

RUN_SECONDS = "simulator.vcsched.io/run-seconds"
EXIT_CODE = "simulator.vcsched.io/exit-code"


class NodeOptions(TypedDict, total=False):
    """What may be said about a node."""

    cpu: Amount  # default 8
    memory: Amount  # default "32Gi"
    pods: int  # default 110
    resources: Mapping[str, Amount]  # further amounts, for example {"nvidia.com/gpu": 8}
    labels: Mapping[str, str | Sequence[str]]  # a list is dealt out in turn: {"zone": ["a", "b"]}
    annotations: Mapping[str, str]
    taints: Sequence[str | Obj]  # "key=value:Effect", "key:Effect" or raw
    ready: bool
    unschedulable: bool


class PodOptions(TypedDict, total=False):
    """What may be said about a pod; every builder that makes pods takes these as keywords."""

    cpu: Amount | None  # cores: 1, 0.5 or "500m"
    memory: Amount | None  # bytes, or text such as "4Gi"
    requests: Mapping[str, Amount]  # further resources, for example {"nvidia.com/gpu": 8}
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    node_selector: Mapping[str, str]
    affinity: Obj  # raw `spec.affinity`
    tolerations: Sequence[str | Obj]  # "key=value:Effect", "key:Effect", "key" or raw
    spread: str | Sequence[Obj]  # a topology key (max skew 1 among this set's pods) or raw constraints
    ports: Sequence[int | Obj]  # host ports (TCP) or raw container ports
    gates: Sequence[str]  # names of scheduling gates
    scheduler: str  # default: the World's scheduler
    priority_class: str
    priority: int  # default: the value of the priority class
    grace_s: int  # terminationGracePeriodSeconds
    run_seconds: float  # for the kubelet stand-in: the pod ends so long after it started
    exit_code: int  # how it ends then
    spec: Obj  # raw fields laid over the pod spec at the end


def quantity(amount: Amount) -> str:
    """The amount as Kubernetes writes it; fractions become milli-units (0.5 -> "500m")."""
    if isinstance(amount, str):
        return amount
    if amount == int(amount):
        return str(int(amount))
    return f"{round(amount * 1000)}m"


def number(amount: Amount) -> Decimal:
    """The amount in base units (cores, bytes, counts). ValueError for a text that is no quantity."""
    if not isinstance(amount, str):
        return Decimal(str(amount))
    digits = amount.rstrip("".join(set("".join(_SUFFIXES))))
    suffix = amount[len(digits) :]
    if not digits or suffix not in _SUFFIXES:
        raise ValueError(f"{amount!r} is not a quantity this builder can add up")
    return Decimal(digits) * _SUFFIXES[suffix]


def total(lists: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The sum of resource lists, as a resource list."""
    sums: dict[str, Decimal] = {}
    for amounts in lists:
        for resource, amount in amounts.items():
            sums[resource] = sums.get(resource, Decimal(0)) + number(amount)
    return {resource: quantity(float(amount) if amount % 1 else int(amount)) for resource, amount in sums.items()}


def amounts(
    cpu: Amount | None = None, memory: Amount | None = None, requests: Mapping[str, Amount] | None = None
) -> dict[str, str]:
    """A resource list; what is None is absent."""
    listed = {"cpu": cpu, "memory": memory} | dict(requests or {})
    return {resource: quantity(amount) for resource, amount in listed.items() if amount is not None}


def taint(text: str | Obj) -> Obj:
    """`key=value:Effect` or `key:Effect` as a taint."""
    if not isinstance(text, str):
        return dict(text)
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}


def toleration(text: str | Obj) -> Obj:
    """`key=value:Effect`, `key:Effect` or `key` as a toleration; without a value any value is tolerated."""
    if not isinstance(text, str):
        return dict(text)
    rest, colon, effect = text.partition(":")
    key, equals, value = rest.partition("=")
    made = {"key": key, "operator": "Equal", "value": value} if equals else {"key": key, "operator": "Exists"}
    return made | ({"effect": effect} if colon else {})


def deal(labels: Mapping[str, str | Sequence[str]] | None, index: int) -> dict[str, str]:
    """The labels of the index-th object; a value that is a list is dealt out in turn."""
    return {
        key: value if isinstance(value, str) else value[index % len(value)] for key, value in (labels or {}).items()
    }


def node_parts(options: NodeOptions, stamp: str) -> tuple[Obj, Obj]:
    """A fresh `spec` and `status` of a node; `stamp` is the transition time of its Ready condition."""
    spec: Obj = {}
    if taints := options.get("taints"):
        spec["taints"] = [taint(each) for each in taints]
    if options.get("unschedulable"):
        spec["unschedulable"] = True
    further = {"pods": options.get("pods", 110)} | dict(options.get("resources", {}))
    room = amounts(options.get("cpu", 8), options.get("memory", "32Gi"), further)
    ready = options.get("ready", True)
    condition = {
        "type": "Ready",
        "status": str(ready),
        "reason": "KubeletReady" if ready else "KubeletNotReady",
        "lastTransitionTime": stamp,
    }
    return spec, {"capacity": room, "allocatable": room.copy(), "conditions": [condition]}


def pod_spec(options: PodOptions, scheduler: str, own_labels: Mapping[str, str]) -> Obj:
    """A fresh `spec` of a pod with one container; `own_labels` select the set's pods for spreading."""
    requests = amounts(options.get("cpu"), options.get("memory"), options.get("requests"))
    container: Obj = {"name": "main", "image": "registry.k8s.io/pause:3.10"}
    if requests:
        container["resources"] = {"requests": requests}
    extended = {resource: amount for resource, amount in requests.items() if "/" in resource}
    if extended:  # the API server wants limits equal to requests for these
        container["resources"]["limits"] = extended.copy()
    if ports := options.get("ports"):
        container["ports"] = [_port(port) for port in ports]
    spec: Obj = {
        "schedulerName": options.get("scheduler", scheduler),
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": options.get("grace_s", 30),
        "containers": [container],
    }
    if selector := options.get("node_selector"):
        spec["nodeSelector"] = dict(selector)
    if affinity := options.get("affinity"):
        spec["affinity"] = copy.deepcopy(affinity)
    if tolerations := options.get("tolerations"):
        spec["tolerations"] = [toleration(each) for each in tolerations]
    if spread := options.get("spread"):
        spec["topologySpreadConstraints"] = _spread(spread, own_labels)
    if gates := options.get("gates"):
        spec["schedulingGates"] = [{"name": gate} for gate in gates]
    if raw := options.get("spec"):
        spec |= copy.deepcopy(raw)
    return spec


def pod_annotations(options: PodOptions) -> dict[str, str]:
    """The annotations of a pod, those for the kubelet stand-in included."""
    made = dict(options.get("annotations", {}))
    if (seconds := options.get("run_seconds")) is not None:
        made[RUN_SECONDS] = f"{seconds:g}"
    if (code := options.get("exit_code")) is not None:
        made[EXIT_CODE] = str(code)
    return made


def _port(port: int | Obj) -> Obj:
    if isinstance(port, int):
        return {"containerPort": port, "hostPort": port, "protocol": "TCP"}
    return dict(port)


def _spread(spread: str | Sequence[Obj], own_labels: Mapping[str, str]) -> list[Obj]:
    if not isinstance(spread, str):
        return copy.deepcopy(list(spread))
    constraint = {
        "maxSkew": 1,
        "topologyKey": spread,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": dict(own_labels)},
    }
    return [constraint]
