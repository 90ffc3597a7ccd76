"""What the flags and the gates mean for the parts of the scheduler: which kinds are followed, names, lease.

Pure functions of the options; nothing is started here. Spec 02 §1.2, §8, §9.2.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from vcsched.cache.options import CacheOptions
from vcsched.daemon.featuregates import FeatureGates, server_minor
from vcsched.daemon.flags import Options
from vcsched.framework.sampling import SamplingFlags
from vcsched.kube.objects import (
    Namespace,
    Node,
    Object,
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
from vcsched.kube.settings import IOSettings, LeaseSettings

_ALWAYS: tuple[type[Object], ...] = (Node, Pod, PodGroup, Queue, Namespace, Service, ResourceQuota)
_WORKLOADS: tuple[type[Object], ...] = (ReplicationController, ReplicaSet, StatefulSet)


def gates_of(options: Options, git_version: str) -> FeatureGates:
    """The gates for a server of this version ("v1.36.1"). ValueError if it is no version."""
    numbers = git_version.removeprefix("v").split(".")
    minor = server_minor({"minor": numbers[1] if len(numbers) > 1 else ""})
    return FeatureGates(dict(options.feature_gates), minor)


def kinds_of(options: Options, gates: FeatureGates) -> tuple[type[Object], ...]:
    """The kinds to follow."""
    kinds = list(_ALWAYS)
    if options.priority_class and gates.is_on("PriorityClass"):
        kinds.append(PriorityClass)
    if gates.is_on("PodDisruptionBudgetsSupport"):
        kinds.append(PodDisruptionBudget)
    if gates.is_on("WorkLoadSupport"):
        kinds += _WORKLOADS
    return tuple(kinds)


def cache_options_of(options: Options) -> CacheOptions:
    """What the cache is told."""
    return CacheOptions(
        scheduler_names=options.scheduler_name,
        default_queue=options.default_queue,
        node_selector=tuple(_pairs(options.node_selector)),
    )


def sampling_of(options: Options) -> SamplingFlags:
    """How many nodes a search is to find."""
    return SamplingFlags(
        options.minimum_feasible_nodes, options.minimum_percentage_nodes_to_find, options.percentage_nodes_to_find
    )


def io_settings_of(options: Options) -> IOSettings:
    """What the I/O side is told."""
    return IOSettings(
        kubeconfig=options.kubeconfig,
        master=options.master,
        own_names=tuple(options.scheduler_name),
        qps=options.kube_api_qps,
        burst=options.kube_api_burst,
        lease=lease_of(options),
        log_level=logging.getLogger().level,
    )


def lease_of(options: Options) -> LeaseSettings | None:
    """The lease to lead by; None without leader election."""
    if not options.leader_elect:
        return None
    return LeaseSettings(
        namespace=options.lease_namespace,
        name=options.leader_elect_resource_name,
        duration_s=options.leader_elect_lease_duration,
        renew_deadline_s=options.leader_elect_renew_deadline,
        retry_s=options.leader_elect_retry_period,
    )


def _pairs(items: Iterable[str]) -> Iterable[tuple[str, str]]:
    """`key:value` items; one without a value selects nothing (`flags.doubts` says so)."""
    for item in items:
        key, _, value = item.partition(":")
        if key.strip() and value.strip():
            yield key.strip(), value.strip()
