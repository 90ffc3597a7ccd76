"""Owner references: who belongs to whom, and the garbage collection of what lost its owner."""

from __future__ import annotations

import asyncio
from collections import defaultdict

from vcsched.simulator.errors import ApiError
from vcsched.simulator.registry import Registry
from vcsched.simulator.resources import BY_KIND
from vcsched.simulator.store import Change, Obj, Table


class Owners:
    """An index of the dependents of every uid; deletes them, in the background, when their owner is gone."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._dependents: defaultdict[str, dict[tuple[str, str], Obj]] = defaultdict(dict)
        registry.store.listeners.append(self._saw)

    def of(self, uid: str) -> list[Obj]:
        """The objects that name this uid as an owner."""
        return list(self._dependents[uid].values()) if uid in self._dependents else []

    def _saw(self, table: Table, change: Change) -> None:
        obj = change.version.obj
        owners = obj["metadata"].get("ownerReferences")
        before = change.old.obj["metadata"].get("ownerReferences") if change.old else None
        if owners or before:  # most objects have none: this is called with every change
            place = (table.name, change.version.key)
            for owner in before or ():
                self._dependents[owner.get("uid", "")].pop(place, None)
            if change.type != "DELETED":
                for owner in owners or ():
                    self._dependents[owner.get("uid", "")][place] = obj
        if change.type != "DELETED":
            return
        uid = obj["metadata"]["uid"]
        if orphans := self._dependents.pop(uid, None):
            asyncio.get_running_loop().call_soon(self._collect, uid, list(orphans.values()))

    def _collect(self, uid: str, orphans: list[Obj]) -> None:
        for obj in orphans:
            meta = obj["metadata"]
            if all(owner.get("uid") == uid for owner in meta["ownerReferences"]):
                resource = BY_KIND[obj["apiVersion"], obj["kind"]]
                only = {"preconditions": {"uid": meta["uid"]}}
                try:
                    self._registry.delete(resource, meta.get("namespace", ""), meta["name"], only)
                except ApiError:
                    continue  # gone already, or made anew
