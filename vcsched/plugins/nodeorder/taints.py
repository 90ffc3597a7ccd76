"""TaintToleration: nodes with fewer taints that would rather not have the pod (spec 06 §3.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from vcsched.framework.plugin import shared_by
from vcsched.model.taints import PREFER_NO_SCHEDULE, count_unpreferred, tolerations_of

if TYPE_CHECKING:
    from vcsched.columns.table import FloatArray
    from vcsched.framework.plugin import Ask, Node, Nodes, Plugin
    from vcsched.framework.session import Session
    from vcsched.kube.objects import Taint

MAX_SCORE = 100.0


class TaintToleration:
    def __init__(self, weight: int) -> None:
        self.weight = weight

    def register(self, plugin: Plugin, ssn: Session) -> None:
        ssn.batch_node_order.add(plugin, vector=self.count, reads="node", normalise=self.normalise)

    @shared_by(tolerations_of)
    def count(self, ask: Ask, nodes: Nodes) -> Any:
        """float64[k]: the taints against the pod."""
        tolerations = tolerations_of(ask.form)
        return nodes.attribute(soft_taints).map(lambda taints: count_unpreferred(taints or (), tolerations))

    def normalise(self, ask: Ask, raw: FloatArray) -> FloatArray:
        """100 for the nodes without such taints, 0 for those with most."""
        most = raw.max(initial=0.0)
        if most == 0:
            return np.full(len(raw), MAX_SCORE * self.weight)
        score: FloatArray = (MAX_SCORE - np.trunc(raw * MAX_SCORE / most)) * self.weight
        return score


def soft_taints(node: Node) -> tuple[Taint, ...]:
    """The taints of a node that only prefer."""
    return tuple(taint for taint in node.obj.spec.taints if taint.effect == PREFER_NO_SCHEDULE)
