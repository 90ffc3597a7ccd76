"""Small objects that rules read: priority classes, quotas, disruption budgets (spec 02 §10.8-10.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.kube.objects import PodDisruptionBudget, PriorityClass, ResourceQuota


def upsert_priority_class(cache: SchedulerCache, obj: PriorityClass) -> None:
    cache.picture.priority_classes[obj.metadata.name] = obj
    cache.groups.priorities_changed()


def delete_priority_class(cache: SchedulerCache, key: str, uid: str) -> None:
    if cache.picture.priority_classes.pop(key, None) is not None:
        cache.groups.priorities_changed()


def upsert_quota(cache: SchedulerCache, obj: ResourceQuota) -> None:
    cache.picture.quotas.setdefault(obj.metadata.namespace, {})[obj.metadata.name] = obj


def delete_quota(cache: SchedulerCache, key: str, uid: str) -> None:
    namespace, _, name = key.partition("/")
    cache.picture.quotas.get(namespace, {}).pop(name, None)


def upsert_budget(cache: SchedulerCache, obj: PodDisruptionBudget) -> None:
    cache.picture.budgets[f"{obj.metadata.namespace}/{obj.metadata.name}"] = obj


def delete_budget(cache: SchedulerCache, key: str, uid: str) -> None:
    cache.picture.budgets.pop(key, None)
