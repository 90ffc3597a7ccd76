"""NodeAffinity: nodes that meet more of the preferred terms of the pod (spec 06 §3.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vcsched.framework.plugin import shared_by
from vcsched.model.node_affinity import evaluate_score, rule_of

if TYPE_CHECKING:
    from vcsched.columns.table import FloatArray
    from vcsched.framework.plugin import Ask, Node, Nodes, Plugin
    from vcsched.framework.session import Session
    from vcsched.model.selectors import Requirement

MAX_SCORE = 100.0


class NodeAffinity:
    """A preferred term that cannot be read counts nothing, the others still do."""

    def __init__(self, weight: int) -> None:
        self.weight = weight

    def register(self, plugin: Plugin, ssn: Session) -> None:
        ssn.batch_node_order.add(
            plugin, vector=self.preference, reads="node", applies=prefers, normalise=self.normalise
        )

    @shared_by(rule_of)
    def preference(self, ask: Ask, nodes: Nodes) -> Any:
        """float64[k]: the weights of the terms that each node meets."""

        def label(part: Requirement) -> Any:
            return nodes.label(part.key).where(part.accepts)

        def name(part: Requirement) -> Any:
            return nodes.attribute(node_name).where(part.accepts)

        everything = np.ones(nodes.k, dtype=np.bool_)
        return evaluate_score(rule_of(ask.form), everything, label, name).astype(np.float64)

    def normalise(self, ask: Ask, raw: FloatArray) -> FloatArray:
        """100 for the best candidate, and nothing if no candidate meets any."""
        best = raw.max(initial=0.0)
        if best == 0:
            return np.zeros(len(raw))
        score: FloatArray = np.trunc(raw * MAX_SCORE / best) * self.weight
        return score


def prefers(ask: Ask) -> bool:
    """Whether the pod has preferred terms that can be read."""
    return bool(rule_of(ask.form).preferred)


def node_name(node: Node) -> str:
    return node.name
