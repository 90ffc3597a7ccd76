"""PodGroup and Queue, whole (spec 01 §12.1-12.2), and PriorityClass."""

# ruff: noqa: RUF012 (msgspec copies the empty dict of a field for each object)

from __future__ import annotations

from datetime import datetime

import msgspec

from vcsched.kube.objects.base import PREFERRED, REQUIRED, LabelSelector, Object, Quantities, Wire, part


class NetworkTopology(Wire, frozen=True, kw_only=True):
    """`mode` is "hard" or "soft"; the CRD fills in "hard"."""

    mode: str = ""
    highest_tier_allowed: int | None = None
    highest_tier_name: str = ""


class SubGroupPolicy(Wire, frozen=True, kw_only=True):
    """The CRD fills in a `sub_group_size` of 1; null means that nothing was said."""

    name: str = ""
    network_topology: NetworkTopology | None = None
    sub_group_size: int | None = None
    min_sub_groups: int | None = None
    label_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()


class PodGroupSpec(Wire, frozen=True, kw_only=True):
    """Null `min_resources` differs from an empty one: the first says nothing, the second asks for nothing."""

    min_member: int = 0
    min_task_member: dict[str, int] = {}
    queue: str = ""
    priority_class_name: str = ""
    min_resources: Quantities | None = None
    network_topology: NetworkTopology | None = None
    sub_group_policy: tuple[SubGroupPolicy, ...] = ()


class PodGroupCondition(Wire, frozen=True, kw_only=True):
    """`transition_id` is the UID of the session that wrote it."""

    type: str = ""
    status: str = ""
    transition_id: str = msgspec.field(default="", name="transitionID")
    last_transition_time: datetime | None = None
    reason: str = ""
    message: str = ""


class PodGroupStatus(Wire, frozen=True, kw_only=True):
    phase: str = ""
    conditions: tuple[PodGroupCondition, ...] = ()
    running: int = 0
    succeeded: int = 0
    failed: int = 0


class PodGroup(Object, frozen=True, kw_only=True):
    spec: PodGroupSpec = part(PodGroupSpec)
    status: PodGroupStatus = part(PodGroupStatus)


class Guarantee(Wire, frozen=True, kw_only=True):
    resource: Quantities = {}


class ExtendCluster(Wire, frozen=True, kw_only=True):
    name: str = ""
    weight: int = 0
    capacity: Quantities = {}


class NodeGroupAffinity(Wire, frozen=True, kw_only=True):
    """Names of node groups; serves affinity and anti-affinity."""

    required: tuple[str, ...] = msgspec.field(default=(), name=REQUIRED)
    preferred: tuple[str, ...] = msgspec.field(default=(), name=PREFERRED)


class QueueAffinity(Wire, frozen=True, kw_only=True):
    node_group_affinity: NodeGroupAffinity | None = None
    node_group_anti_affinity: NodeGroupAffinity | None = None


class QueueSpec(Wire, frozen=True, kw_only=True):
    """Null `reclaimable` means true."""

    weight: int = 0
    capability: Quantities = {}
    deserved: Quantities = {}
    guarantee: Guarantee = part(Guarantee)
    reclaimable: bool | None = None
    parent: str = ""
    priority: int = 0
    dequeue_strategy: str = ""
    type: str = ""
    extend_clusters: tuple[ExtendCluster, ...] = ()
    affinity: QueueAffinity | None = None


class Reservation(Wire, frozen=True, kw_only=True):
    """Legacy; left as found."""

    nodes: tuple[str, ...] = ()
    resource: Quantities = {}


class QueueStatus(Wire, frozen=True, kw_only=True):
    state: str = ""
    pending: int = 0
    inqueue: int = 0
    running: int = 0
    unknown: int = 0
    completed: int = 0
    reservation: Reservation = part(Reservation)
    allocated: Quantities | None = None


class Queue(Object, frozen=True, kw_only=True):
    spec: QueueSpec = part(QueueSpec)
    status: QueueStatus = part(QueueStatus)


class PriorityClass(Object, frozen=True, kw_only=True):
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""
