"""Pod affinity and anti-affinity: pods that want to be near to, or far from, other pods.

A term says which pods, counted over which topology (a node label). Here terms become values that can be
counted by: a `Selector` and a topology key. Counting is done elsewhere. The API server has already put
`matchLabelKeys` into the label selector. Spec 06 §2.12, §3.6.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

from vcsched.kube.objects import PodAffinity, PodAffinityTerm, PodSpec
from vcsched.model.selectors import (
    EVERYBODY,
    LabelRule,
    Labels,
    Selector,
    compile_label_selector,
    conjunction,
    problem,
)

FindNamespaces = Callable[[LabelRule], frozenset[str]]
"""The names of the namespaces whose labels match a rule."""


class PodTerm(NamedTuple):
    """Pods near which to be, or not to be. Hashable.

    `weight` is 0 for a required term, positive for preferred affinity, negative for preferred
    anti-affinity. `by_namespace_labels`: the selector's namespaces were found by their labels and must be
    found anew when those change.
    """

    selector: Selector
    topology_key: str
    weight: int = 0
    by_namespace_labels: bool = False


class PodAffinityRule:
    """All terms of a pod. `error` says which term cannot be read, or is ""; such a pod cannot be placed."""

    def __init__(
        self,
        affinity: tuple[PodTerm, ...],
        anti_affinity: tuple[PodTerm, ...],
        preferred: tuple[PodTerm, ...],
        error: str,
    ) -> None:
        self.affinity = affinity
        self.anti_affinity = anti_affinity
        self.preferred = preferred
        self.error = error

    @cached_property
    def together(self) -> Selector:
        """The pods that meet all required affinity terms; only these count for any of them."""
        return conjunction(term.selector for term in self.affinity)

    def matches_itself(self, namespace: str, labels: Labels) -> bool:
        """Whether a pod meets its own required affinity terms: the first of its kind may start alone."""
        return self.together.selects(namespace, labels)

    @property
    def terms(self) -> tuple[PodTerm, ...]:
        """All terms."""
        return (*self.affinity, *self.anti_affinity, *self.preferred)


def pod_affinity_rule(spec: PodSpec, namespace: str, find_namespaces: FindNamespaces) -> PodAffinityRule:
    """The terms of a pod of this namespace."""
    near = (spec.affinity and spec.affinity.pod_affinity) or PodAffinity()
    far = (spec.affinity and spec.affinity.pod_anti_affinity) or PodAffinity()

    def compiled(term: PodAffinityTerm, weight: int = 0) -> PodTerm:
        return pod_term(term, namespace, find_namespaces, weight)

    return PodAffinityRule(
        affinity=tuple(compiled(term) for term in near.required),
        anti_affinity=tuple(compiled(term) for term in far.required),
        preferred=(
            *(compiled(weighted.pod_affinity_term, weighted.weight) for weighted in near.preferred),
            *(compiled(weighted.pod_affinity_term, -weighted.weight) for weighted in far.preferred),
        ),
        error=_error("podAffinity", near) or _error("podAntiAffinity", far),
    )


def pod_term(term: PodAffinityTerm, owner_namespace: str, find_namespaces: FindNamespaces, weight: int) -> PodTerm:
    """One term as a value. Without namespaces and namespace selector the owner's namespace is meant."""
    namespaces: frozenset[str] | None = frozenset(term.namespaces)
    by_labels = False
    if term.namespace_selector is not None:
        rule = compile_label_selector(term.namespace_selector)
        by_labels = rule != EVERYBODY
        namespaces = frozenset(term.namespaces) | find_namespaces(rule) if by_labels else None
    elif not namespaces:
        namespaces = frozenset((owner_namespace,))
    selector = Selector(namespaces, compile_label_selector(term.label_selector))
    return PodTerm(selector, term.topology_key, weight, by_labels)


def _error(field: str, said: PodAffinity) -> str:
    required = [(f"required[{index}]", term) for index, term in enumerate(said.required)]
    preferred = [(f"preferred[{index}]", term.pod_affinity_term) for index, term in enumerate(said.preferred)]
    for where, term in required + preferred:
        for part, selector in (
            ("labelSelector", term.label_selector),
            ("namespaceSelector", term.namespace_selector),
        ):
            if why := problem(selector):
                return f"{field}.{where}.{part}.{why}"
    return ""
