"""What the API server itself writes into objects when they are created or changed.

Defaults, the parts a client may not set, the value of a priority class. It validates little on purpose:
hostile objects must reach the scheduler under test, and a real API server guards the rest in the end-to-end
tests.
"""

from __future__ import annotations

import re
from typing import Any

from vcsched.simulator.errors import ApiError
from vcsched.simulator.resources import Resource
from vcsched.simulator.store import Obj, Store

_NAME = re.compile(r"[a-z0-9]([-a-z0-9.:]*[a-z0-9])?")
_LOOSE_NAMES = {"events", "leases.coordination.k8s.io"}
_CHANGEABLE = ("tolerations", "schedulingGates", "activeDeadlineSeconds", "terminationGracePeriodSeconds")
_BUILT_IN_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_SHAPES: tuple[tuple[str, str, type], ...] = (
    ("", "spec", dict),
    ("", "status", dict),
    ("metadata", "name", str),
    ("metadata", "generateName", str),
    ("metadata", "namespace", str),
    ("metadata", "labels", dict),
    ("metadata", "annotations", dict),
    ("metadata", "ownerReferences", list),
    ("spec", "nodeName", str),
    ("spec", "containers", list),
    ("spec", "initContainers", list),
    ("spec", "schedulingGates", list),
    ("spec", "subGroupPolicy", list),
    ("status", "conditions", list),
)
_WORDS: dict[type, str] = {dict: "an object", list: "a list of objects", str: "a text"}
PRIORITY_CLASSES = "priorityclasses.scheduling.k8s.io"


def check_name(resource: Resource, name: str) -> None:
    """ApiError 422 for a name the API server would not take."""
    if resource.table not in _LOOSE_NAMES and not _NAME.fullmatch(name):
        raise ApiError(
            422,
            f'{resource.kind} "{name}" is invalid: metadata.name: Invalid value: "{name}": '
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
            "and must start and end with an alphanumeric character",
            kind=resource.kind,
            name=name,
        )


def check_shape(resource: Resource, obj: Obj) -> None:
    """ApiError 400 where the object is not even shaped as its kind; nulls are dropped, as the real server does."""
    for home, field, kind in _SHAPES:
        part = obj.get(home) if home else obj
        if not isinstance(part, dict) or field not in part:
            continue
        if part[field] is None:
            del part[field]
        elif not isinstance(part[field], kind):
            path = f"{home}.{field}" if home else field
            raise _misshapen(resource, obj, f"{path} is {part[field]!r:.100}; it must be {_WORDS[kind]}")
        elif kind is list and not all(isinstance(each, dict) for each in part[field]):
            raise _misshapen(resource, obj, f"{home}.{field} must be a list of objects")
    for owner in obj["metadata"].get("ownerReferences", ()):
        if not isinstance(owner.get("uid"), str) or not isinstance(owner.get("name"), str):
            raise _misshapen(resource, obj, f"metadata.ownerReferences has {owner!r:.100}; it needs name and uid")
    for field in ("labels", "annotations"):
        for key, value in obj["metadata"].get(field, {}).items():
            if not isinstance(value, str):
                raise _misshapen(resource, obj, f"metadata.{field}[{key}] is {value!r:.100}; it must be a text")


def _misshapen(resource: Resource, obj: Obj, why: str) -> ApiError:
    return ApiError(400, f"{resource.kind} {obj['metadata'].get('name', '')}: {why}")


def on_create(store: Store, resource: Resource, obj: Obj, now: str) -> None:
    """Complete a new object in place; it is the caller's own."""
    match resource.table:
        case "pods":
            _new_pod(store, obj, now)
        case "namespaces":
            obj["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = obj["metadata"]["name"]
            obj["spec"] = {"finalizers": ["kubernetes"]}
            obj["status"] = {"phase": "Active"}
        case "replicasets.apps":
            obj.setdefault("spec", {}).setdefault("replicas", 1)
            obj["status"] = {"replicas": 0}
        case "statefulsets.apps":
            obj.setdefault("spec", {}).setdefault("replicas", 1)
        case _:
            if resource.columns is not None and resource.status:
                obj.pop("status", None)
    defaults(resource, obj)


def defaults(resource: Resource, obj: Obj) -> None:
    """The schema's defaults, which hold for objects loaded as they are, too."""
    match resource.table:
        case "pods":
            _pod_defaults(obj.setdefault("spec", {}))
            obj.setdefault("status", {}).setdefault("phase", "Pending")
        case "podgroups.scheduling.volcano.sh":
            _podgroup_defaults(obj)
        case "queues.scheduling.volcano.sh":
            spec = obj.setdefault("spec", {})
            spec.setdefault("weight", 1)
            spec.setdefault("dequeueStrategy", "traverse")


def generation_follows(resource: Resource, old: Obj, new: Obj) -> bool:
    """Whether the write changes what `metadata.generation` counts."""
    if resource.columns is not None and not resource.status:  # no subresource: everything but metadata
        return any(old.get(key) != new.get(key) for key in {*old, *new} - {"metadata"})
    return bool(old.get("spec") != new.get("spec"))


def check_pod_update(old: Obj, new: Obj) -> None:
    """ApiError 422 if a pod's spec changes beyond what may change after creation."""
    if old["spec"] == new["spec"]:
        return
    fixed = [
        {key: value for key, value in pod["spec"].items() if key not in (*_CHANGEABLE, "containers")}
        for pod in (old, new)
    ]
    images = [
        [{key: value for key, value in box.items() if key != "image"} for box in pod["spec"]["containers"]]
        for pod in (old, new)
    ]
    gates = [{gate["name"] for gate in pod["spec"].get("schedulingGates") or ()} for pod in (old, new)]
    if fixed[0] != fixed[1] or images[0] != images[1] or not gates[1] <= gates[0]:
        name = old["metadata"]["name"]
        raise ApiError(
            422,
            f'Pod "{name}" is invalid: spec: Forbidden: pod updates may not change fields other than '
            "`spec.containers[*].image`, `spec.activeDeadlineSeconds`, `spec.terminationGracePeriodSeconds`, "
            "`spec.tolerations` (only additions), and may only remove `spec.schedulingGates`",
            kind="Pod",
            name=name,
        )


def _new_pod(store: Store, obj: Obj, now: str) -> None:
    spec = obj.get("spec")
    if not isinstance(spec, dict) or not spec.get("containers"):
        name = obj["metadata"]["name"]
        raise ApiError(422, f'Pod "{name}" is invalid: spec.containers: Required value', kind="Pod", name=name)
    obj["spec"] = spec = dict(spec)
    _add_priority(store, obj["metadata"]["name"], spec)
    status: Obj = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        message = "Scheduling is blocked due to non-empty scheduling gates"
        status["conditions"] = [condition("PodScheduled", "False", now, reason="SchedulingGated", message=message)]
    obj["status"] = status


def _pod_defaults(spec: Obj) -> None:
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", 30)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("schedulerName", "default-scheduler")
    for container in (*spec.setdefault("containers", []), *(spec.get("initContainers") or ())):
        resources = container.get("resources")
        if not resources:
            continue
        for resource, amount in resources.get("limits", {}).items():
            resources.setdefault("requests", {}).setdefault(resource, amount)


def _add_priority(store: Store, pod: str, spec: Obj) -> None:
    classes = store.table(PRIORITY_CLASSES).objects
    name = spec.get("priorityClassName", "")
    policy = "PreemptLowerPriority"
    if not name:
        chosen = next((v.obj for v in classes.values() if v.obj.get("globalDefault")), None)
        value = chosen["value"] if chosen else 0
        if chosen:
            spec["priorityClassName"] = chosen["metadata"]["name"]
    elif name in classes:
        value = classes[name].obj["value"]
        policy = classes[name].obj.get("preemptionPolicy", policy)
    elif name in _BUILT_IN_CLASSES:
        value = _BUILT_IN_CLASSES[name]
    else:
        message = f'pods "{pod}" is forbidden: no PriorityClass with name {name} was found'
        raise ApiError(403, message, kind="pods", name=pod)
    spec["priority"] = value
    spec.setdefault("preemptionPolicy", policy)


def _podgroup_defaults(obj: Obj) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("queue", "default")
    parts = [spec, *(part for part in spec.get("subGroupPolicy") or () if isinstance(part, dict))]
    for part in parts[1:]:
        part.setdefault("subGroupSize", 1)
        part.setdefault("minSubGroups", 0)
    for part in parts:
        if isinstance(part.get("networkTopology"), dict):
            part["networkTopology"].setdefault("mode", "hard")


def condition(kind: str, status: str, now: str, *, reason: str = "", message: str = "") -> dict[str, Any]:
    """A pod condition."""
    made = {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": now}
    if reason:
        made["reason"] = reason
    if message:
        made["message"] = message
    return made


def set_condition(conditions: list[Obj], new: Obj) -> list[Obj]:
    """The list with this condition in place of the one of its type."""
    return [*(each for each in conditions if each.get("type") != new["type"]), new]
