"""Affinity, tolerations and topology spread: what a pod says about where it wants to be."""

from __future__ import annotations

import msgspec

from vcsched.kube.objects.base import PREFERRED, REQUIRED, LabelSelector, Wire


class NodeSelectorRequirement(Wire, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(Wire, frozen=True, kw_only=True):
    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(Wire, frozen=True, kw_only=True):
    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class PreferredSchedulingTerm(Wire, frozen=True, kw_only=True):
    weight: int = 0
    preference: NodeSelectorTerm = msgspec.field(default_factory=NodeSelectorTerm)


class NodeAffinity(Wire, frozen=True, kw_only=True):
    required: NodeSelector | None = msgspec.field(default=None, name=REQUIRED)
    preferred: tuple[PreferredSchedulingTerm, ...] = msgspec.field(default=(), name=PREFERRED)


class PodAffinityTerm(Wire, frozen=True, kw_only=True):
    """A null `label_selector` matches no pod, an empty one every pod; likewise `namespace_selector`."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(Wire, frozen=True, kw_only=True):
    weight: int = 0
    pod_affinity_term: PodAffinityTerm = msgspec.field(default_factory=PodAffinityTerm)


class PodAffinity(Wire, frozen=True, kw_only=True):
    """Serves affinity and anti-affinity alike."""

    required: tuple[PodAffinityTerm, ...] = msgspec.field(default=(), name=REQUIRED)
    preferred: tuple[WeightedPodAffinityTerm, ...] = msgspec.field(default=(), name=PREFERRED)


class Affinity(Wire, frozen=True, kw_only=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(Wire, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class TopologySpreadConstraint(Wire, frozen=True, kw_only=True):
    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = ""
    node_taints_policy: str = ""
    match_label_keys: tuple[str, ...] = ()
