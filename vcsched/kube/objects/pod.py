"""Pod, as far as the scheduler reads it."""

# ruff: noqa: RUF012 (msgspec copies the empty dict of a field for each object)

from __future__ import annotations

from datetime import datetime

import msgspec

from vcsched.kube.objects.affinity import Affinity, Toleration, TopologySpreadConstraint
from vcsched.kube.objects.base import Object, Quantities, Wire, part


class Present(Wire, frozen=True, kw_only=True):
    """Something of which only the presence is read."""


class ContainerPort(Wire, frozen=True, kw_only=True):
    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""


class ContainerClaim(Wire, frozen=True, kw_only=True):
    """One of the pod's resource claims that a container uses."""

    name: str = ""
    request: str = ""


class Resources(Wire, frozen=True, kw_only=True):
    requests: Quantities = {}
    limits: Quantities = {}
    claims: tuple[ContainerClaim, ...] = ()


class Container(Wire, frozen=True, kw_only=True):
    name: str = ""
    image: str = ""
    restart_policy: str = ""
    ports: tuple[ContainerPort, ...] = ()
    resources: Resources = part(Resources)


class SchedulingGate(Wire, frozen=True, kw_only=True):
    name: str = ""


class ClaimVolume(Wire, frozen=True, kw_only=True):
    claim_name: str = ""
    read_only: bool = False


class Volume(Wire, frozen=True, kw_only=True):
    name: str = ""
    persistent_volume_claim: ClaimVolume | None = None
    ephemeral: Present | None = None


class PodResourceClaim(Wire, frozen=True, kw_only=True):
    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""


class PodSpec(Wire, frozen=True, kw_only=True):
    scheduler_name: str = ""
    node_name: str = ""
    priority: int | None = None
    priority_class_name: str = ""
    preemption_policy: str = ""
    node_selector: dict[str, str] = {}
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Quantities = {}
    resources: Resources | None = None
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    volumes: tuple[Volume, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    host_network: bool = False


class PodCondition(Wire, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None


class ContainerStatus(Wire, frozen=True, kw_only=True):
    """`resources` is null until the kubelet reports what the container really has."""

    name: str = ""
    resources: Resources | None = None
    allocated_resources: Quantities = {}


class PodStatus(Wire, frozen=True, kw_only=True):
    phase: str = ""
    conditions: tuple[PodCondition, ...] = ()
    nominated_node_name: str = ""
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    start_time: datetime | None = None


class Pod(Object, frozen=True, kw_only=True):
    spec: PodSpec = part(PodSpec)
    status: PodStatus = part(PodStatus)
