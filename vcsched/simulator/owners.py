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
        place = (table.name, change.version.key)
        if change.old is not None:
            for uid in _owners(change.old.obj):
                self._dependents[uid].pop(place, None)
        if change.type != "DELETED":
            for uid in _owners(change.version.obj):
                self._dependents[uid][place] = change.version.obj
            return
        uid = change.version.obj["metadata"]["uid"]
        if orphans := self._dependents.pop(uid, None):
            asyncio.get_running_loop().call_soon(self._collect, uid, list(orphans.values()))

    def _collect(self, uid: str, orphans: list[Obj]) -> None:
        for obj in orphans:
            if all(owner == uid for owner in _owners(obj)):
                meta = obj["metadata"]
                resource = BY_KIND[obj["apiVersion"], obj["kind"]]
                only = {"preconditions": {"uid": meta["uid"]}}
                try:
                    self._registry.delete(resource, meta.get("namespace", ""), meta["name"], only)
                except ApiError:
                    continue  # gone already, or made anew


def _owners(obj: Obj) -> list[str]:
    return [each.get("uid", "") for each in obj["metadata"].get("ownerReferences") or ()]
