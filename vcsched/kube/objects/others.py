"""Quotas, disruption budgets, the workloads whose selectors spread pods by default, and the leader lease."""

# ruff: noqa: RUF012 (msgspec copies the empty dict of a field for each object)

from __future__ import annotations

from datetime import datetime

from vcsched.kube.objects.base import LabelSelector, Object, Quantities, Wire, part


class ResourceQuotaSpec(Wire, frozen=True, kw_only=True):
    hard: Quantities = {}
    scopes: tuple[str, ...] = ()


class ResourceQuotaStatus(Wire, frozen=True, kw_only=True):
    hard: Quantities = {}
    used: Quantities = {}


class ResourceQuota(Object, frozen=True, kw_only=True):
    spec: ResourceQuotaSpec = part(ResourceQuotaSpec)
    status: ResourceQuotaStatus = part(ResourceQuotaStatus)


class PodDisruptionBudgetSpec(Wire, frozen=True, kw_only=True):
    """`min_available` and `max_unavailable` are a count or a percentage such as "50%"."""

    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None


class PodDisruptionBudgetStatus(Wire, frozen=True, kw_only=True):
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: dict[str, datetime | None] = {}


class PodDisruptionBudget(Object, frozen=True, kw_only=True):
    spec: PodDisruptionBudgetSpec = part(PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = part(PodDisruptionBudgetStatus)


class MapSelectorSpec(Wire, frozen=True, kw_only=True):
    """A selector from before label selectors: equal labels only; empty selects nothing."""

    selector: dict[str, str] = {}


class Service(Object, frozen=True, kw_only=True):
    spec: MapSelectorSpec = part(MapSelectorSpec)


class ReplicationController(Object, frozen=True, kw_only=True):
    spec: MapSelectorSpec = part(MapSelectorSpec)


class WorkloadSpec(Wire, frozen=True, kw_only=True):
    selector: LabelSelector | None = None


class ReplicaSet(Object, frozen=True, kw_only=True):
    spec: WorkloadSpec = part(WorkloadSpec)


class StatefulSet(Object, frozen=True, kw_only=True):
    spec: WorkloadSpec = part(WorkloadSpec)


class LeaseSpec(Wire, frozen=True, kw_only=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: datetime | None = None
    renew_time: datetime | None = None
    lease_transitions: int | None = None


class Lease(Object, frozen=True, kw_only=True):
    spec: LeaseSpec = part(LeaseSpec)
