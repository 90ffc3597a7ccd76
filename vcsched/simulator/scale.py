"""The scale subresource: `spec.replicas` of a set seen as an `autoscaling/v1` Scale, for `kubectl scale`."""

from __future__ import annotations

from collections.abc import Callable

from vcsched.simulator.store import Obj


def of(owner: Obj) -> Obj:
    """The Scale of a ReplicaSet or StatefulSet."""
    meta = owner["metadata"]
    fields = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    labels = owner["spec"].get("selector", {}).get("matchLabels", {})
    return {
        "apiVersion": "autoscaling/v1",
        "kind": "Scale",
        "metadata": {field: meta[field] for field in fields},
        "spec": {"replicas": owner["spec"].get("replicas", 1)},
        "status": {
            "replicas": owner.get("status", {}).get("replicas", 0),
            "selector": ",".join(f"{key}={value}" for key, value in labels.items()),
        },
    }


def through(change: Callable[[Obj], Obj]) -> Callable[[Obj], Obj]:
    """A change of the Scale as a change of its owner."""

    def changed(owner: Obj) -> Obj:
        scale = change(of(owner))
        meta = {**owner["metadata"], "resourceVersion": scale["metadata"].get("resourceVersion", "")}
        return {**owner, "metadata": meta, "spec": {**owner["spec"], "replicas": scale["spec"]["replicas"]}}

    return changed
