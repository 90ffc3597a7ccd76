"""Lists: whole or in pages. All pages of a list show the moment of its first page, as etcd's snapshots do.

A page's continue token names a snapshot kept in memory; the oldest ones are dropped, and a token of a dropped
snapshot is answered 410, as after a compaction.
"""

from __future__ import annotations

import base64
from collections import OrderedDict

import msgspec

from vcsched.simulator.errors import ApiError, expired
from vcsched.simulator.resources import Resource
from vcsched.simulator.selectors import Test
from vcsched.simulator.store import Store, Version

_KEPT = 64


class Page(msgspec.Struct):
    """Objects of a list with what `ListMeta` says."""

    versions: list[Version]
    rv: int
    token: str = ""
    remaining: int = 0


class Lists:
    """Answers list requests of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._snapshots: OrderedDict[int, tuple[int, list[Version]]] = OrderedDict()
        self._last = 0

    def page(self, resource: Resource, namespace: str, test: Test | None, limit: int = 0, token: str = "") -> Page:
        """One page; `limit` 0 is everything. ApiError 410 if the token's snapshot is gone."""
        if token:
            number, start = self._read(token)
            rv, versions = self._snapshots[number]
            self._snapshots.move_to_end(number)
        else:
            number, start = 0, 0
            rv, versions = self._store.rv, self._all(resource, namespace, test)
        stop = start + limit if limit else len(versions)
        if stop >= len(versions):
            return Page(versions[start:], rv)
        if not number:
            number = self._last = self._last + 1
            self._snapshots[number] = (rv, versions)
            if len(self._snapshots) > _KEPT:
                self._snapshots.popitem(last=False)
        following = base64.urlsafe_b64encode(f"{number}:{stop}".encode()).decode()
        return Page(versions[start:stop], rv, following, len(versions) - stop)

    def forget(self) -> None:
        """Drop all snapshots, as a compaction does."""
        self._snapshots.clear()

    def _all(self, resource: Resource, namespace: str, test: Test | None) -> list[Version]:
        objects = self._store.table(resource.table).objects
        prefix = f"{namespace}/" if namespace else ""
        keys = sorted(key for key in objects if key.startswith(prefix)) if prefix else sorted(objects)
        found = [objects[key] for key in keys]
        return [version for version in found if test(version.obj)] if test else found

    def _read(self, token: str) -> tuple[int, int]:
        try:
            number, _, start = base64.urlsafe_b64decode(token).decode().partition(":")
            read = int(number), int(start)
        except ValueError:
            raise ApiError(400, "continue key is not valid: it must come from an earlier list") from None
        if read[0] not in self._snapshots:
            raise expired("The provided continue parameter is too old: list again without it.")
        return read


def encode(resource: Resource, page: Page) -> bytes:
    """The list object; the items' bytes are those stored."""
    meta: dict[str, object] = {"resourceVersion": str(page.rv)}
    if page.token:
        meta |= {"continue": page.token, "remainingItemCount": page.remaining}
    return b'{"kind":"%sList","apiVersion":"%s","metadata":%s,"items":[%s]}' % (
        resource.kind.encode(),
        resource.api_version.encode(),
        msgspec.json.encode(meta),
        b",".join(version.body for version in page.versions),
    )
