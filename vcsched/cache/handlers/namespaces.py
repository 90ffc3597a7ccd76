"""Namespaces: their labels decide which pods an affinity term with a namespaceSelector means (spec 06 §2.12)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.kube.objects import Namespace


def upsert(cache: SchedulerCache, obj: Namespace) -> None:
    old = cache.picture.namespaces.get(obj.metadata.name)
    cache.picture.namespaces[obj.metadata.name] = obj
    if old is None or old.metadata.labels != obj.metadata.labels:
        cache.picture.counters.namespace_changed(obj.metadata.name)


def delete(cache: SchedulerCache, key: str, uid: str) -> None:
    if cache.picture.namespaces.pop(key, None) is not None:
        cache.picture.counters.namespace_changed(key)
