"""The ReplicaSet stand-in: keeps as many live pods as `spec.replicas` asks, and writes the status.

A pod that ended, was deleted or evicted is made anew under another name. It adopts nothing: only pods with a
controller reference to the set count.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator

from vcsched.simulator.errors import ApiError
from vcsched.simulator.minting import owner_reference
from vcsched.simulator.owners import Owners
from vcsched.simulator.registry import PODS, Registry
from vcsched.simulator.resources import BY_PLURAL
from vcsched.simulator.store import Change, Obj, Table

_TICK_S = 0.05
_BURST = 500  # pods made for one set in a tick
REPLICA_SETS = BY_PLURAL["apps", "v1", "replicasets"]


class Replicas:
    """The controller of all ReplicaSets."""

    def __init__(self, registry: Registry, owners: Owners) -> None:
        self._registry = registry
        self._owners = owners
        self._sets = registry.store.table(REPLICA_SETS.table)
        self._dirty: dict[str, None] = {}
        registry.store.listeners.append(self._saw)

    async def run(self) -> None:
        """Bring the sets that changed to what they ask, for ever."""
        while True:
            waiting, self._dirty = self._dirty, {}
            for key in waiting:
                if key in self._sets.objects:
                    self._settle(key, self._sets.objects[key].obj)
            await asyncio.sleep(_TICK_S)

    def _saw(self, table: Table, change: Change) -> None:
        obj = change.version.obj
        if table is self._sets:
            if change.type != "DELETED":
                self._dirty[change.version.key] = None
        elif table.name == PODS.table:
            for owner in obj["metadata"].get("ownerReferences") or ():
                if owner.get("kind") == "ReplicaSet":
                    self._dirty[f"{obj['metadata']['namespace']}/{owner['name']}"] = None

    def _settle(self, key: str, owner: Obj) -> None:
        meta = owner["metadata"]
        if "deletionTimestamp" in meta:
            return
        live = list(self._live(meta["uid"]))
        wanted = int(owner["spec"].get("replicas", 1))
        missing = wanted - len(live)
        try:
            for _ in range(min(missing, _BURST)):
                self._registry.create(PODS, meta["namespace"], _pod(owner))
            for pod in sorted(live, key=_readiness)[: max(-missing, 0)]:
                self._registry.delete(PODS, meta["namespace"], pod["metadata"]["name"], {})
        except ApiError:
            self._dirty[key] = None  # for example the namespace goes away: look again
            return
        if missing > _BURST:
            self._dirty[key] = None
        live = list(self._live(meta["uid"]))
        ready = sum(pod["status"].get("phase") == "Running" for pod in live)
        self._write_status(key, owner, len(live), ready)

    def _live(self, uid: str) -> Iterator[Obj]:
        for pod in self._owners.of(uid):
            ended = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
            if pod["kind"] == "Pod" and not ended and "deletionTimestamp" not in pod["metadata"]:
                yield pod

    def _write_status(self, key: str, owner: Obj, total: int, ready: int) -> None:
        status = {
            "replicas": total,
            "fullyLabeledReplicas": total,
            "readyReplicas": ready,
            "availableReplicas": ready,
            "observedGeneration": owner["metadata"].get("generation", 1),
        }
        if owner.get("status") != status:
            made = {**owner, "metadata": dict(owner["metadata"]), "status": status}
            self._registry.store.put(self._sets, key, made)


def _pod(owner: Obj) -> Obj:
    template = copy.deepcopy(owner["spec"]["template"])
    meta = {
        **template.get("metadata", {}),
        "generateName": f"{owner['metadata']['name']}-",
        "ownerReferences": [owner_reference(owner)],
    }
    return {"metadata": meta, "spec": template["spec"]}


def _readiness(pod: Obj) -> tuple[bool, bool]:
    """Pods without a node go first when there are too many, then those that do not run yet."""
    return bool(pod["spec"].get("nodeName")), pod["status"].get("phase") == "Running"
