"""Taints: a node with a NoSchedule or NoExecute taint takes only pods that tolerate it (spec 06 §2.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.framework.plugin import Ask, Nodes, Verdict, shared_by
from vcsched.model.node import Node
from vcsched.model.status import UNRESOLVABLE
from vcsched.model.taints import tolerations_of, untolerated

if TYPE_CHECKING:
    from vcsched.kube.objects import Taint

REASON = "node(s) had untolerated taint(s)"


@shared_by(tolerations_of)
def refuse(ask: Ask, nodes: Nodes, verdict: Verdict) -> None:
    tolerations = tolerations_of(ask.form)

    def tainted(taints: tuple[Taint, ...] | None) -> bool:
        return untolerated(taints or (), tolerations) is not None

    verdict.fail(nodes.attribute(_taints).where(tainted), REASON, UNRESOLVABLE)


def _taints(node: Node) -> tuple[Taint, ...]:
    return node.obj.spec.taints
