"""The kinds the simulator serves: what discovery says of them and how their paths are read.

Only what kubectl, the official client, the scheduler and the demo need. PodGroup and Queue are known from the
start with the names and columns of `deploy/crds` (spec 08 §0; a test holds the two together). PodGroup has no
status subresource: its status is written with the object.
"""

from __future__ import annotations

from dataclasses import dataclass, field

CORE_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True, slots=True)
class Column:
    """A printed column of a custom resource; `wide` columns are shown by `-o wide` only."""

    name: str
    path: str  # "spec.minMember"
    type: str = "string"
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Resource:
    """One served kind."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True
    short: tuple[str, ...] = ()
    status: bool = False  # has a status subresource
    others: tuple[tuple[str, str], ...] = ()  # further subresources: (name, kind)
    categories: tuple[str, ...] = ()
    columns: tuple[Column, ...] | None = None  # set for custom resources
    verbs: tuple[str, ...] = CORE_VERBS
    table: str = field(init=False)  # name of the table in the store
    subresources: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", f"{self.plural}.{self.group}" if self.group else self.plural)
        names = {name for name, _ in self.others} | ({"status"} if self.status else set())
        object.__setattr__(self, "subresources", frozenset(names))

    @property
    def api_version(self) -> str:
        """ "v1", "apps/v1"."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        """The name kubectl prints."""
        return self.kind.lower()


AGE = "metadata.creationTimestamp"
PODS_OTHERS = (("binding", "Binding"), ("eviction", "Eviction"))
SCALE = (("scale", "Scale"),)
ALL = ("all",)
_VOLCANO = "scheduling.volcano.sh"

RESOURCES: tuple[Resource, ...] = (
    Resource("", "v1", "ConfigMap", "configmaps", short=("cm",)),
    Resource("", "v1", "Event", "events", short=("ev",)),
    Resource("", "v1", "Namespace", "namespaces", namespaced=False, short=("ns",), status=True),
    Resource("", "v1", "Node", "nodes", namespaced=False, short=("no",), status=True),
    Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", short=("pvc",), status=True),
    Resource("", "v1", "PersistentVolume", "persistentvolumes", False, short=("pv",), status=True),
    Resource("", "v1", "Pod", "pods", short=("po",), status=True, others=PODS_OTHERS, categories=ALL),
    Resource("", "v1", "ReplicationController", "replicationcontrollers", short=("rc",), status=True),
    Resource("", "v1", "ResourceQuota", "resourcequotas", short=("quota",), status=True),
    Resource("", "v1", "Secret", "secrets"),
    Resource("", "v1", "ServiceAccount", "serviceaccounts", short=("sa",)),
    Resource("", "v1", "Service", "services", short=("svc",), status=True, categories=ALL),
    Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False,
             short=("crd", "crds"), status=True),
    Resource("apps", "v1", "ReplicaSet", "replicasets", short=("rs",), status=True, others=SCALE,
             categories=ALL),
    Resource("apps", "v1", "StatefulSet", "statefulsets", short=("sts",), status=True, others=SCALE,
             categories=ALL),
    Resource("coordination.k8s.io", "v1", "Lease", "leases"),
    Resource("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", short=("pdb",), status=True),
    Resource("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", False, short=("pc",)),
    Resource("storage.k8s.io", "v1", "CSINode", "csinodes", False),
    Resource("storage.k8s.io", "v1", "StorageClass", "storageclasses", False, short=("sc",)),
    Resource(_VOLCANO, "v1beta1", "PodGroup", "podgroups", short=("pg", "podgroup-v1beta1"), columns=(
        Column("STATUS", "status.phase"),
        Column("minMember", "spec.minMember", "integer"),
        Column("RUNNINGS", "status.running", "integer"),
        Column("AGE", AGE, "date"),
        Column("QUEUE", "spec.queue", wide=True),
    )),
    Resource(_VOLCANO, "v1beta1", "Queue", "queues", False, short=("q", "queue-v1beta1"), status=True,
             columns=(Column("PARENT", "spec.parent"),)),
)  # fmt: skip

BY_PLURAL: dict[tuple[str, str, str], Resource] = {(r.group, r.version, r.plural): r for r in RESOURCES}
BY_KIND: dict[tuple[str, str], Resource] = {(r.api_version, r.kind): r for r in RESOURCES}
