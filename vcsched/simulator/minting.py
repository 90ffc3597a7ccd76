"""What every object of a World carries: a deterministic uid, a creation time and its metadata.

The same sequence of calls gives the same uids and times on every machine, so a failing test prints the same
YAML wherever it runs. An object made again under the name of a removed one gets another uid, as on a real
cluster.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping

from vcsched.simulator.fragments import Obj

_START = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)


class Mint:
    """Hands out uids and times; `stamp` is the present time as Kubernetes writes it."""

    def __init__(self, start: datetime.datetime | None = None) -> None:
        self._now = start or _START
        self._made: dict[str, int] = {}
        self.stamp = ""
        self.tick(0)

    def tick(self, seconds: float = 1) -> None:
        """Let the clock advance."""
        self._now += datetime.timedelta(seconds=seconds)
        self.stamp = self._now.strftime("%Y-%m-%dT%H:%M:%SZ")

    def uid(self, kind: str, namespace: str, name: str) -> str:
        """A uid for the next object of this kind and name."""
        key = f"{kind}/{namespace}/{name}"
        times = self._made.get(key, 0)
        self._made[key] = times + 1
        digits = hashlib.md5(f"{key}/{times}".encode(), usedforsecurity=False).hexdigest()
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    def metadata(
        self,
        kind: str,
        name: str,
        namespace: str | None,
        labels: Mapping[str, str] | None,
        annotations: Mapping[str, str] | None,
    ) -> Obj:
        """`metadata` of a new object; `namespace` is None for cluster-scoped kinds."""
        made: Obj = {"name": name}
        if namespace is not None:
            made["namespace"] = namespace
        made["uid"] = self.uid(kind, namespace or "", name)
        made["creationTimestamp"] = self.stamp
        if labels:
            made["labels"] = dict(labels)
        if annotations:
            made["annotations"] = dict(annotations)
        return made


def owner_reference(owner: Obj) -> Obj:
    """A controller reference to the object."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def running_status(stamp: str) -> Obj:
    """The `status` of a pod that runs since `stamp`."""
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": stamp}
        for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    return {"phase": "Running", "conditions": conditions, "startTime": stamp}
