"""Where each kind lives in the API, how its objects are named, and how they are read.

A kind of a later plugin is added here and nowhere else: its struct, and one line in `KINDS`.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import msgspec

from vcsched.kube.objects.base import Object
from vcsched.kube.objects.node import Namespace, Node
from vcsched.kube.objects.others import (
    Lease,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    ResourceQuota,
    Service,
    StatefulSet,
)
from vcsched.kube.objects.pod import Pod
from vcsched.kube.objects.scheduling import PodGroup, PriorityClass, Queue

O = TypeVar("O", bound=Object)  # noqa: E741


class Resource(NamedTuple):
    """An API resource; `group` is "" for the core group."""

    group: str
    version: str
    plural: str
    namespaced: bool
    kind: str

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """URL path; without a namespace that of the whole cluster, without a name that of the collection."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        object_ = f"/{name}" if name else ""
        sub = f"/{subresource}" if subresource else ""
        return f"{root}{scope}/{self.plural}{object_}{sub}"


KINDS: dict[type[Object], Resource] = {
    Node: Resource("", "v1", "nodes", False, "Node"),
    Pod: Resource("", "v1", "pods", True, "Pod"),
    Namespace: Resource("", "v1", "namespaces", False, "Namespace"),
    Service: Resource("", "v1", "services", True, "Service"),
    ReplicationController: Resource("", "v1", "replicationcontrollers", True, "ReplicationController"),
    ResourceQuota: Resource("", "v1", "resourcequotas", True, "ResourceQuota"),
    ReplicaSet: Resource("apps", "v1", "replicasets", True, "ReplicaSet"),
    StatefulSet: Resource("apps", "v1", "statefulsets", True, "StatefulSet"),
    PodDisruptionBudget: Resource("policy", "v1", "poddisruptionbudgets", True, "PodDisruptionBudget"),
    PriorityClass: Resource("scheduling.k8s.io", "v1", "priorityclasses", False, "PriorityClass"),
    PodGroup: Resource("scheduling.volcano.sh", "v1beta1", "podgroups", True, "PodGroup"),
    Queue: Resource("scheduling.volcano.sh", "v1beta1", "queues", False, "Queue"),
    Lease: Resource("coordination.k8s.io", "v1", "leases", True, "Lease"),
}

_DECODERS: dict[type[Any], msgspec.json.Decoder[Any]] = {kind: msgspec.json.Decoder(kind) for kind in KINDS}


def key_of(obj: Object) -> str:
    """ "namespace/name", or "name" for a cluster-scoped object."""
    meta = obj.metadata
    return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name


def decode(kind: type[O], raw: bytes | bytearray | memoryview | msgspec.Raw) -> O:
    """Read one object. Raises `msgspec.DecodeError` (also `ValidationError`), which names the field.

    A null where the struct has none means "not there", as for Kubernetes' own clients; that case takes the
    slow path of a second reading.
    """
    try:
        return _DECODERS[kind].decode(raw)  # type: ignore[no-any-return]
    except msgspec.ValidationError:
        plain = _without_nulls(msgspec.json.decode(raw))
        return msgspec.convert(plain, kind)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
