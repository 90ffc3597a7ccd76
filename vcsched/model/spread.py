"""Topology spread: pods of a kind evenly over zones, hosts or any node label.

Hard constraints (`DoNotSchedule`) rule nodes out, soft ones (`ScheduleAnyway`) score. A pod that declares
none is spread softly by the selectors of the Services it serves and of the workload that owns it. Here are
the constraints as values and the formulas; counting is done elsewhere. Spec 06 §2.16, §3.7.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from vcsched.kube.keys import HOSTNAME, ZONE
from vcsched.kube.objects import LabelSelector, PodSpec, TopologySpreadConstraint
from vcsched.model.selectors import (
    EVERYBODY,
    IN,
    NOBODY,
    LabelRule,
    Labels,
    Selector,
    compile_label_selector,
    compile_pairs,
    problem,
    requirement,
)

_DEFAULT_SKEWS = ((HOSTNAME, 3), (ZONE, 5))
_NO_DOMAIN = 2**31 - 1
_MAX_SCORE = 100.0

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class Constraint(NamedTuple):
    """One constraint of a pod. Hashable.

    `selector` means the pods that are counted, `rule` those of which one more would count; they differ
    only for an empty label selector, which counts nobody and yet is met by every pod.
    """

    topology_key: str
    max_skew: int
    selector: Selector
    rule: LabelRule
    min_domains: int = 1
    honors_affinity: bool = True  # only nodes that meet the pod's node selector and affinity are counted on
    honors_taints: bool = False  # only nodes whose taints the pod tolerates are counted on

    def counts_itself(self, labels: Labels) -> bool:
        """Whether the pod being placed adds to the count of its domain."""
        return self.rule.matches(labels)


class Spread(NamedTuple):
    """The constraints of a pod. Hashable.

    `needs_all_keys`: soft scoring passes over nodes that lack a topology key; not so with the defaults.
    `error` says which constraint cannot be read, or is "".
    """

    hard: tuple[Constraint, ...] = ()
    soft: tuple[Constraint, ...] = ()
    needs_all_keys: bool = True
    error: str = ""


def spread_of(spec: PodSpec, namespace: str, labels: Labels, default: LabelRule) -> Spread:
    """The constraints of a pod with these labels; without any, those by `default` (see `default_rule`)."""
    declared = spec.topology_spread_constraints
    if not declared:
        return Spread(soft=_default_constraints(namespace, default), needs_all_keys=False)
    hard, soft = (
        tuple(_constraint(said, namespace, labels) for said in declared if said.when_unsatisfiable == mode)
        for mode in ("DoNotSchedule", "ScheduleAnyway")
    )
    return Spread(hard, soft, needs_all_keys=True, error=_error(declared))


def default_rule(services: Iterable[Labels], owner: LabelSelector | Labels | None) -> LabelRule:
    """Whom a pod without constraints is spread against.

    `services` are the selectors of the Services that select the pod, `owner` that of the
    ReplicationController, ReplicaSet or StatefulSet which controls it. An empty rule means: no spreading.
    """
    merged: dict[str, str] = {}
    for selector in services:
        merged.update(selector)
    if isinstance(owner, LabelSelector):
        more = compile_label_selector(owner).requirements or ()
        return compile_pairs(merged).joined(more)
    return compile_pairs({**merged, **(owner or {})})


def serves(selector: Labels, labels: Labels) -> bool:
    """Whether a Service with this selector selects a pod with these labels; an empty one selects none."""
    return bool(selector) and compile_pairs(selector).matches(labels)


def _default_constraints(namespace: str, rule: LabelRule) -> tuple[Constraint, ...]:
    if rule in (EVERYBODY, NOBODY):
        return ()
    selector = Selector(frozenset((namespace,)), rule)
    return tuple(Constraint(key, skew, selector, rule) for key, skew in _DEFAULT_SKEWS)


def _error(declared: Sequence[TopologySpreadConstraint]) -> str:
    for index, said in enumerate(declared):
        if why := problem(said.label_selector):
            return f"topologySpreadConstraints[{index}].labelSelector.{why}"
    return ""


def _constraint(said: TopologySpreadConstraint, namespace: str, labels: Labels) -> Constraint:
    own = (requirement(key, IN, (labels[key],)) for key in said.match_label_keys if key in labels)
    rule = compile_label_selector(said.label_selector).joined(own)
    return Constraint(
        topology_key=said.topology_key,
        max_skew=said.max_skew,
        selector=Selector(frozenset((namespace,)), NOBODY if rule == EVERYBODY else rule),
        rule=rule,
        min_domains=1 if said.min_domains is None else said.min_domains,
        honors_affinity=said.node_affinity_policy != "Ignore",
        honors_taints=said.node_taints_policy == "Honor",
    )


# ---------------------------------------------------------------- formulas


def least_count(counts: Sequence[int] | IntArray, min_domains: int) -> int:
    """The count that others are measured against, of the counts per domain.

    With fewer domains than wanted it is 0, as if an empty domain were still to come.
    """
    if len(counts) < min_domains:
        return 0
    return int(np.min(counts, initial=_NO_DOMAIN))


def fits_skew(count: IntArray, counts_itself: bool, least: int, max_skew: int) -> BoolArray:
    """Whether one more pod keeps the skew, where `count` pods are in the domain (arrays or numbers)."""
    return count + int(counts_itself) - least <= max_skew


def topology_weight(size: int) -> float:
    """How much one pod in a domain weighs when there are `size` domains among the candidates."""
    return math.log(size + 2)


def weighed(counts: IntArray, weight: float, max_skew: int) -> FloatArray:
    """What one constraint adds to the raw score of a node, by the pods in the node's domain; more is worse."""
    return np.multiply(counts, weight, dtype=np.float64) + float(max_skew - 1)


def whole(total: FloatArray) -> FloatArray:
    """Raw scores in whole numbers. Halves go up, as in the scheduler of Kubernetes, not to the even one."""
    cut = np.trunc(total)
    cut += total - cut >= 0.5
    return cut


def final_scores(raw: FloatArray, ignored: BoolArray) -> FloatArray:
    """Scores 0..100 of the candidates, the best for the least raw score; 0 for ignored ones.

    `raw` holds whole numbers, none below 0.
    """
    counted = raw[~ignored] if ignored.any() else raw
    if not len(counted):
        return np.zeros(len(raw))
    least, most = float(counted.min()), float(counted.max())
    if not most:
        return np.where(ignored, 0.0, _MAX_SCORE)
    # exact: a quotient of whole numbers this small is never rounded up to the next one
    return np.where(ignored, 0.0, np.trunc(_MAX_SCORE * (most + least - raw) / most))
