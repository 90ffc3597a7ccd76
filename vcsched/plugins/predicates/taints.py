"""Taints: a node with a NoSchedule or NoExecute taint takes only pods that tolerate it (spec 06 §2.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.framework.plugin import Ask, Form, Nodes, Verdict, shared_by
from vcsched.model.node import Node
from vcsched.model.status import UNRESOLVABLE
from vcsched.model.taints import untolerated

if TYPE_CHECKING:
    from vcsched.kube.objects import Taint, Toleration

REASON = "node(s) had untolerated taint(s)"


def tolerations_of(form: Form) -> tuple[Toleration, ...]:
    """The part of a form that this filter reads."""
    return form.spec.tolerations


@shared_by(tolerations_of)
def refuse(ask: Ask, nodes: Nodes, verdict: Verdict) -> None:
    tolerations = ask.form.spec.tolerations

    def tainted(taints: tuple[Taint, ...] | None) -> bool:
        return untolerated(taints or (), tolerations) is not None

    verdict.fail(nodes.attribute(_taints).where(tainted), REASON, UNRESOLVABLE)


def _taints(node: Node) -> tuple[Taint, ...]:
    return node.obj.spec.taints
