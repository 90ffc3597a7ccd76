"""Node affinity: node selector and required node affinity, asked once per distinct label value.

Spec 06 §2.9.
"""

from __future__ import annotations

import numpy as np

from vcsched.framework.plugin import Ask, Form, Nodes, Verdict, shared_by
from vcsched.model.node import Node
from vcsched.model.node_affinity import evaluate, rule_of
from vcsched.model.selectors import Requirement
from vcsched.model.status import UNRESOLVABLE

REASON = "node(s) didn't match Pod's node affinity/selector"
CONFLICT = "pod affinity terms conflict"


def applies(ask: Ask) -> bool:
    return rule_of(ask.form).restricts


@shared_by(rule_of)
def refuse(ask: Ask, nodes: Nodes, verdict: Verdict) -> None:
    def label(part: Requirement) -> object:
        return nodes.label(part.key).where(part.accepts)

    def name(part: Requirement) -> object:
        return nodes.attribute(_name).where(part.accepts)

    fits = evaluate(rule_of(ask.form), np.ones(nodes.k, dtype=np.bool_), label, name)
    verdict.fail(~fits, REASON, UNRESOLVABLE)


def problem(form: Form) -> str:
    """Why no node can ever fit, whatever the cluster is like; "" if one could."""
    return CONFLICT if rule_of(form).is_contradictory else ""


def _name(node: Node) -> str:
    return node.name
