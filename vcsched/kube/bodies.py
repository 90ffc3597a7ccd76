"""Request bodies, encoded: what a write looks like on the wire. Pure functions of the message.

Bodies carry the UID of the object that was decided on, so that a namesake made since is never touched.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from vcsched.kube.link import Bind, Condition, Evict, PodGroupStatus, PodStatus
from vcsched.kube.objects import Pod, Queue

_encode = msgspec.json.Encoder().encode


def now_text(now: datetime | None = None) -> str:
    """A time as the API writes it, in whole seconds."""
    return (now or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")


def binding(bind: Bind) -> bytes:
    meta: dict[str, Any] = {"name": bind.name, "namespace": bind.namespace, "uid": bind.uid}
    if bind.annotations:
        meta["annotations"] = bind.annotations
    return _encode(
        {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": meta,
            "target": {"apiVersion": "v1", "kind": "Node", "name": bind.node},
        }
    )


def deletion(uid: str) -> bytes:
    """Delete options: the pod's own grace period, and only this very pod."""
    return _encode({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}})


def pod_patch(write: PodStatus | Evict, seen: Pod | None, now: str) -> bytes:
    """A strategic merge patch of a pod's status; conditions merge by type, so foreign ones stay.

    The transition time is written only if the status changes against the pod as `seen`.
    """
    before = {c.type: c.status for c in seen.status.conditions} if seen is not None else {}
    conditions = []
    for wanted in write.conditions:
        made = condition(wanted)
        if before.get(wanted.type) != wanted.status:
            made["lastTransitionTime"] = now
        conditions.append(made)
    status: dict[str, Any] = {}
    if conditions:
        status["conditions"] = conditions
    nominated = getattr(write, "nominated", None)
    if nominated is not None:
        status["nominatedNodeName"] = nominated or None
    return _encode({"metadata": {"uid": write.uid}, "status": status})


def condition(wanted: Condition) -> dict[str, Any]:
    return {
        "type": wanted.type,
        "status": wanted.status,
        "reason": wanted.reason,
        "message": wanted.message,
        "lastProbeTime": None,
    }


def podgroup_patch(write: PodGroupStatus, resource_version: str) -> bytes:
    """A merge patch of a PodGroup. It replaces the list of conditions, hence the version as a guard."""
    meta: dict[str, Any] = {"uid": write.uid}
    if write.annotations:
        meta["annotations"] = write.annotations
    if resource_version and "conditions" in write.status:
        meta["resourceVersion"] = resource_version
    return _encode({"metadata": meta, "status": write.status})


def queue_patch(allocated: dict[str, str], seen: Queue | None) -> bytes:
    """A merge patch of a Queue's status; resources that are no longer allocated are taken out by name."""
    before = seen.status.allocated or {} if seen is not None else {}
    merged: dict[str, str | None] = {name: None for name in before if name not in allocated}
    merged.update(allocated)
    return _encode({"status": {"allocated": merged}})


def whole(raw: dict[str, Any]) -> bytes:
    """A whole object, for a PUT."""
    return _encode(raw)
