"""Unschedulable nodes (`kubectl cordon`): only pods that tolerate the taint it stands for. Spec 06 §2.8."""

from __future__ import annotations

from vcsched.framework.plugin import Ask, Form, Nodes, Verdict, shared_by
from vcsched.model.node import Node
from vcsched.model.status import UNRESOLVABLE
from vcsched.model.taints import tolerates_unschedulable

REASON = "node(s) were unschedulable"


def applies(ask: Ask) -> bool:
    tolerated: bool = ask.form.compiled(_tolerates)
    return not tolerated


def nothing_of(form: Form) -> None:
    """Whoever is asked gets the same answer."""


@shared_by(nothing_of)
def refuse(ask: Ask, nodes: Nodes, verdict: Verdict) -> None:
    verdict.fail(nodes.attribute(_unschedulable).where(bool), REASON, UNRESOLVABLE)


def _tolerates(form: Form) -> bool:
    return tolerates_unschedulable(form.spec.tolerations)


def _unschedulable(node: Node) -> bool:
    return node.obj.spec.unschedulable
