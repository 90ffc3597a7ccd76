"""Taints and tolerations: nodes that keep pods away, and pods that do not mind.

For placing pods, how long a taint is tolerated does not matter, and the numeric operators `Lt` and `Gt`
tolerate nothing (they belong to a gate that is off). Spec 06 §2.8, §2.10, §3.5.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from vcsched.kube.keys import TAINT_UNSCHEDULABLE
from vcsched.kube.objects import Taint, Toleration

if TYPE_CHECKING:
    from vcsched.model.form import Form

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
PREFER_NO_SCHEDULE = "PreferNoSchedule"

UNSCHEDULABLE = Taint(key=TAINT_UNSCHEDULABLE, effect=NO_SCHEDULE)
"""The taint that a node with `spec.unschedulable` stands for, whether or not it carries it."""


def tolerations_of(form: Form) -> tuple[Toleration, ...]:
    """The part of a form that the functions here read."""
    return form.spec.tolerations


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether this toleration covers this taint."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.operator == "Exists":
        return not toleration.key or toleration.key == taint.key
    if toleration.operator not in ("", "Equal") or not toleration.key:
        return False
    return toleration.key == taint.key and toleration.value == taint.value


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether some toleration covers this taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> Taint | None:
    """The first taint that keeps a pod with these tolerations off the node, or None."""
    allowed = tuple(tolerations)
    for taint in taints:
        if taint.effect in (NO_SCHEDULE, NO_EXECUTE) and not is_tolerated(taint, allowed):
            return taint
    return None


def tolerates_unschedulable(tolerations: Iterable[Toleration]) -> bool:
    """Whether a pod with these tolerations may run on a node marked unschedulable."""
    return is_tolerated(UNSCHEDULABLE, tolerations)


def count_unpreferred(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> int:
    """How many taints would rather not have the pod: PreferNoSchedule and not tolerated."""
    allowed = tuple(t for t in tolerations if t.effect in ("", PREFER_NO_SCHEDULE))
    return sum(taint.effect == PREFER_NO_SCHEDULE and not is_tolerated(taint, allowed) for taint in taints)
