"""Services and workload controllers: their selectors are what default spreading counts by (spec 06 §3.7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache


def upsert_for(kind: type) -> Callable[[SchedulerCache, Any], None]:
    """The handler for added and changed objects of one of the kinds."""

    def upsert(cache: SchedulerCache, obj: Any) -> None:
        known = cache.picture.workloads.setdefault(kind, {})
        key = f"{obj.metadata.namespace}/{obj.metadata.name}"
        old = known.get(key)
        known[key] = obj
        if old is None or old.spec != obj.spec:
            cache.picture.counters.workload_changed(obj.metadata.namespace)

    return upsert


def delete_for(kind: type) -> Callable[[SchedulerCache, str, str], None]:
    """The handler for deleted objects of one of the kinds."""

    def delete(cache: SchedulerCache, key: str, uid: str) -> None:
        if cache.picture.workloads.get(kind, {}).pop(key, None) is not None:
            cache.picture.counters.workload_changed(key.partition("/")[0])

    return delete
