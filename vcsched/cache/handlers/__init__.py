"""Event handlers, one module a kind: how an object that arrived changes the picture (spec 02 §10).

Each has `upsert(cache, obj)` and `delete(cache, key, uid)`; `HANDLERS` says which kind goes where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from vcsched.cache.handlers import namespaces, nodes, podgroups, pods, policies, queues, workloads
from vcsched.kube.objects import (
    Namespace,
    Node,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    Queue,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    Service,
    StatefulSet,
)


class Handler(NamedTuple):
    upsert: Callable[[Any, Any], None]
    delete: Callable[[Any, str, str], None]


HANDLERS: dict[type, Handler] = {
    Pod: Handler(pods.upsert, pods.delete),
    Node: Handler(nodes.upsert, nodes.delete),
    PodGroup: Handler(podgroups.upsert, podgroups.delete),
    Queue: Handler(queues.upsert, queues.delete),
    PriorityClass: Handler(policies.upsert_priority_class, policies.delete_priority_class),
    ResourceQuota: Handler(policies.upsert_quota, policies.delete_quota),
    PodDisruptionBudget: Handler(policies.upsert_budget, policies.delete_budget),
    Namespace: Handler(namespaces.upsert, namespaces.delete),
    **{
        kind: Handler(workloads.upsert_for(kind), workloads.delete_for(kind))
        for kind in (Service, ReplicationController, ReplicaSet, StatefulSet)
    },
}
