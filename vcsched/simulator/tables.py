"""Tables: what `kubectl get` prints: kubectl's usual columns, for custom resources those of their CRD.

A column is a name, a priority (1 is shown by `-o wide` only) and a function from the object to the cell.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from vcsched.simulator.lists import Page
from vcsched.simulator.resources import AGE, Resource
from vcsched.simulator.store import Obj


class Cell(NamedTuple):
    """A column of a table."""

    name: str
    of: Callable[[Obj], Any]
    wide: bool = False
    type: str = "string"


def wanted(accept: str) -> bool:
    """Whether the client prefers a table (kubectl's `Accept` header)."""
    first = accept.partition(",")[0]
    return "as=Table" in first and "g=meta.k8s.io" in first


def table(resource: Resource, objects: list[Obj], page: Page | None = None) -> Obj:
    """A `Table` of objects."""
    cells = columns(resource)
    meta: Obj = {}
    if page is not None:
        meta["resourceVersion"] = str(page.rv)
        if page.token:
            meta |= {"continue": page.token, "remainingItemCount": page.remaining}
    elif objects:
        meta["resourceVersion"] = objects[0]["metadata"].get("resourceVersion", "")
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": meta,
        "columnDefinitions": [
            {
                "name": cell.name,
                "type": cell.type,
                "format": "name" if cell.name == "Name" else "",
                "description": cell.name,
                "priority": int(cell.wide),
            }
            for cell in cells
        ],
        "rows": [{"cells": [cell.of(obj) for cell in cells], "object": _partial(obj)} for obj in objects],
    }


def rows_of(resource: Resource) -> Callable[[Obj], Obj]:
    """For watches: a table of one row for each event's object."""
    return lambda obj: table(resource, [obj])


def columns(resource: Resource) -> list[Cell]:
    """The columns of a kind, its name first."""
    if resource.columns is not None:
        own = [
            Cell(column.name, _at(column.path, missing=None), column.wide, column.type)
            if column.type != "date"
            else Cell(column.name, age, column.wide)
            for column in resource.columns
        ]
        return [_NAME, *own]
    return [_NAME, *_COLUMNS.get(resource.table, [_AGE])]


def age(obj: Obj) -> str:
    """How old the object is, as kubectl says it."""
    return since(obj["metadata"].get("creationTimestamp"))


def since(stamp: str | None) -> str:
    """The time since a moment: "12s", "3m", "2d"."""
    if not stamp:
        return "<unknown>"
    seconds = max(int(time.time() - datetime.fromisoformat(stamp).timestamp()), 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m" + (f"{seconds % 60}s" if seconds % 60 else "")
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h" + (f"{minutes % 60}m" if minutes % 60 else "")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return f"{days}d" + (f"{hours % 24}h" if hours % 24 else "")
    return f"{days}d" if days < 730 else f"{days // 365}y"


# -------------------------------------------------------------------- cells


def _at(path: str, missing: Any = "<none>") -> Callable[[Obj], Any]:
    steps = path.split(".")

    def of(obj: Obj) -> Any:
        value: Any = obj
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None
        return missing if value is None else value

    return of


def _partial(obj: Obj) -> Obj:
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def _ready(obj: Obj) -> str:
    """Objects that were loaded running have no container statuses; then the Ready condition counts."""
    boxes = len(obj["spec"].get("containers", ()))
    status = obj.get("status", {})
    whole = any(each.get("type") == "Ready" and each.get("status") == "True" for each in status.get("conditions") or ())
    statuses = status.get("containerStatuses")
    ready = boxes * whole if statuses is None else sum(bool(each.get("ready")) for each in statuses)
    return f"{ready}/{boxes}"


def _pod_status(obj: Obj) -> str:
    status = obj.get("status", {})
    phase = str(status.get("reason") or status.get("phase", "Pending"))
    if "deletionTimestamp" in obj["metadata"]:
        return "Terminating"
    gated = any(each.get("reason") == "SchedulingGated" for each in status.get("conditions") or ())
    if gated and obj["spec"].get("schedulingGates"):
        return "SchedulingGated"
    if phase == "Pending" and obj["spec"].get("nodeName"):
        return "ContainerCreating"
    return {"Succeeded": "Completed", "Failed": "Error"}.get(phase, phase)


def _node_status(obj: Obj) -> str:
    conditions = obj.get("status", {}).get("conditions") or ()
    ready = next((each.get("status") for each in conditions if each.get("type") == "Ready"), "Unknown")
    text = {"True": "Ready", "False": "NotReady"}.get(ready, "Unknown")
    return text + (",SchedulingDisabled" if obj.get("spec", {}).get("unschedulable") else "")


def _roles(obj: Obj) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = obj["metadata"].get("labels") or {}
    return ",".join(sorted(key[len(prefix) :] for key in labels if key.startswith(prefix))) or "<none>"


def _address(kind: str) -> Callable[[Obj], str]:
    def of(obj: Obj) -> str:
        addresses = obj.get("status", {}).get("addresses") or ()
        return next((each["address"] for each in addresses if each["type"] == kind), "<none>")

    return of


def _event_object(obj: Obj) -> str:
    about = obj.get("involvedObject", {})
    return f"{about.get('kind', '').lower()}/{about.get('name', '')}"


def _event_age(obj: Obj) -> str:
    return since(obj.get("lastTimestamp") or obj.get("eventTime") or obj["metadata"].get("creationTimestamp"))


def _selector(obj: Obj) -> str:
    chosen = obj.get("spec", {}).get("selector") or {}
    labels = chosen.get("matchLabels", chosen)
    return ",".join(f"{key}={value}" for key, value in labels.items()) or "<none>"


def _images(obj: Obj) -> str:
    return ",".join(box.get("image", "") for box in obj["spec"]["template"]["spec"].get("containers", ()))


def _hard(obj: Obj) -> str:
    used = obj.get("status", {}).get("used", {})
    return ", ".join(f"{key}: {used.get(key, 0)}/{value}" for key, value in obj["spec"].get("hard", {}).items())


def _number(path: str) -> Callable[[Obj], Any]:
    return _at(path, 0)


_NAME = Cell("Name", lambda obj: obj["metadata"]["name"])
_AGE = Cell("Age", age)

_COLUMNS: dict[str, list[Cell]] = {
    "pods": [
        Cell("Ready", _ready),
        Cell("Status", _pod_status),
        Cell("Restarts", lambda obj: "0"),
        _AGE,
        Cell("IP", _at("status.podIP"), wide=True),
        Cell("Node", _at("spec.nodeName"), wide=True),
        Cell("Nominated Node", lambda o: o.get("status", {}).get("nominatedNodeName") or "<none>", wide=True),
        Cell("Readiness Gates", lambda obj: "<none>", wide=True),
    ],
    "nodes": [
        Cell("Status", _node_status),
        Cell("Roles", _roles),
        _AGE,
        Cell("Version", _at("status.nodeInfo.kubeletVersion", "")),
        Cell("Internal-IP", _address("InternalIP"), wide=True),
        Cell("External-IP", _address("ExternalIP"), wide=True),
        Cell("OS-Image", _at("status.nodeInfo.osImage", "<unknown>"), wide=True),
        Cell("Kernel-Version", _at("status.nodeInfo.kernelVersion", "<unknown>"), wide=True),
        Cell("Container-Runtime", _at("status.nodeInfo.containerRuntimeVersion", "<unknown>"), wide=True),
    ],
    "namespaces": [Cell("Status", _at("status.phase")), _AGE],
    "events": [
        Cell("Last Seen", _event_age),
        Cell("Type", _at("type")),
        Cell("Reason", _at("reason")),
        Cell("Object", _event_object),
        Cell("Subobject", _at("involvedObject.fieldPath", ""), wide=True),
        Cell("Source", _at("source.component", ""), wide=True),
        Cell("Message", _at("message", "")),
        Cell("Count", _number("count"), wide=True),
    ],
    "leases.coordination.k8s.io": [Cell("Holder", _at("spec.holderIdentity", "")), _AGE],
    "configmaps": [Cell("Data", lambda obj: len(obj.get("data") or ())), _AGE],
    "secrets": [Cell("Type", _at("type", "")), Cell("Data", lambda obj: len(obj.get("data") or ())), _AGE],
    "services": [
        Cell("Type", _at("spec.type", "ClusterIP")),
        Cell("Cluster-IP", _at("spec.clusterIP")),
        Cell("External-IP", lambda obj: "<none>"),
        Cell("Port(s)", lambda obj: ",".join(str(p.get("port")) for p in obj["spec"].get("ports", ()))),
        _AGE,
        Cell("Selector", _selector, wide=True),
    ],
    "resourcequotas": [Cell("Request", _hard), _AGE],
    "replicasets.apps": [
        Cell("Desired", _number("spec.replicas")),
        Cell("Current", _number("status.replicas")),
        Cell("Ready", _number("status.readyReplicas")),
        _AGE,
        Cell("Containers", lambda obj: "main", wide=True),
        Cell("Images", _images, wide=True),
        Cell("Selector", _selector, wide=True),
    ],
    "statefulsets.apps": [
        Cell("Ready", lambda o: f"{o.get('status', {}).get('readyReplicas', 0)}/{o['spec'].get('replicas', 1)}"),
        _AGE,
    ],
    "poddisruptionbudgets.policy": [
        Cell("Min Available", _at("spec.minAvailable", "N/A")),
        Cell("Max Unavailable", _at("spec.maxUnavailable", "N/A")),
        Cell("Allowed Disruptions", _number("status.disruptionsAllowed")),
        _AGE,
    ],
    "priorityclasses.scheduling.k8s.io": [
        Cell("Value", _number("value")),
        Cell("Global-Default", lambda obj: str(bool(obj.get("globalDefault"))).lower()),
        _AGE,
        Cell("PreemptionPolicy", _at("preemptionPolicy", "PreemptLowerPriority")),
    ],
    "customresourcedefinitions.apiextensions.k8s.io": [Cell("Created At", _at(AGE))],
}
