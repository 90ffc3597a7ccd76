"""Preferred pod affinity: near the pods a pod would like to have near, and where pods there would like it.

Weights add up per topology domain, negative ones for anti-affinity; the sums of the candidates are stretched
to 0..100. Required affinity of pods that stand weighs nothing, as in the reference. Spec 06 §3.6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from vcsched.columns.table import FloatArray
from vcsched.framework.plugin import Ask, Nodes, Plugin

if TYPE_CHECKING:
    from vcsched.framework.session import Session


def register(plugin: Plugin, ssn: Session, weight: int) -> None:
    """Score with this weight in this session.

    Kept columns last while the same functions are registered, so a plugin object keeps its scorer.
    """
    score = _made.get(plugin)
    if score is None or score.counters is not ssn.world.counters:
        score = _made[plugin] = _Score(ssn, weight)
    ssn.batch_node_order.add(
        plugin,
        vector=score.raw,
        reads="pods",
        applies=score.applies,
        version=score.version,
        normalise=score.normalise,
    )


class _Score:
    def __init__(self, ssn: Session, weight: int) -> None:
        self.counters = ssn.world.counters
        self.weight = weight

    def applies(self, ask: Ask) -> bool:
        return bool(self.counters.relations(ask.shape.match).scoring)

    def version(self, ask: Ask) -> int:
        relations = self.counters.relations(ask.shape.match)
        return max(self.counters.topology.changed, *(tally.changed for tally in relations.scoring))

    def raw(self, ask: Ask, nodes: Nodes) -> FloatArray:
        """float64[k]: the weight of what stands in the domains of each node."""
        relations = self.counters.relations(ask.shape.match)
        asked = [(each.question.tally, each.topology_key, each.weight) for each in relations.needs.preferred]
        owned = [(term.tally, term.topology_key, term.weight) for term in relations.draw]
        total = np.zeros(nodes.k)
        for tally, key, weight in asked + owned:
            domains = self.counters.topology.by_label(key)
            total += weight * tally.per_domain(domains)[domains.of[nodes.rows]]
        return total

    def normalise(self, ask: Ask, raw: FloatArray) -> FloatArray:
        """Least 0, most 100 times the weight; equal everywhere: 0."""
        least = raw.min()
        spread = raw.max() - least
        if not spread:
            return np.zeros(len(raw))
        # divided before it is multiplied, as Kubernetes does: the cut to whole numbers depends on it
        scores: FloatArray = np.trunc(100.0 * ((raw - least) / spread)) * self.weight
        return scores


_made: WeakKeyDictionary[Plugin, _Score] = WeakKeyDictionary()
