"""Soft topology spread: towards domains with fewer pods of a kind.

How much a domain weighs depends on how many there are among the candidates, so nothing is kept. Pods that
declare no constraint are spread over hosts and zones against the pods of their Services and their owner.
Spec 06 §3.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from vcsched.columns.table import FloatArray
from vcsched.framework.plugin import Ask, Nodes, Plugin
from vcsched.kube.keys import HOSTNAME
from vcsched.model.spread import final_scores, raw_scores, topology_weight

if TYPE_CHECKING:
    from vcsched.framework.session import Session


def register(plugin: Plugin, ssn: Session, weight: int) -> None:
    """Score with this weight in this session.

    Kept columns last while the same functions are registered, so a plugin object keeps its scorer.
    """
    score = _made.get(plugin)
    if score is None or score.counters is not ssn.world.counters:
        score = _made[plugin] = _Score(ssn, weight)
    score.counters.use_default_spread()
    ssn.batch_node_order.add(plugin, vector=score.of_candidates, reads="candidates", applies=score.applies)


class _Score:
    def __init__(self, ssn: Session, weight: int) -> None:
        self.counters = ssn.world.counters
        self.weight = weight

    def applies(self, ask: Ask) -> bool:
        return bool(self.counters.relations(ask.shape.match).needs.soft)

    def of_candidates(self, ask: Ask, nodes: Nodes) -> FloatArray:
        """float64[k]: 0..100 times the weight, the candidates compared among each other."""
        topology = self.counters.topology
        needs = self.counters.relations(ask.shape.match).needs
        of = [topology.by_label(each.constraint.topology_key).of[nodes.rows] for each in needs.soft]
        ignored = np.zeros(nodes.k, dtype=np.bool_)
        if needs.needs_all_keys:
            for mine in of:
                ignored |= mine < 0
        counts, weights = [], []
        for each, mine in zip(needs.soft, of, strict=True):
            key, tally = each.constraint.topology_key, each.question.tally
            if key == HOSTNAME:
                size = int(np.count_nonzero(~ignored))
                counts.append(tally.per_domain(topology.by_row())[nodes.rows])
            else:
                # among the candidates a missing label is one more value, though it adds nothing
                size = len(np.unique(mine[~ignored]))
                counted = topology.by_counted_label(key, ask.form, each.inclusion)
                counts.append(tally.per_domain(counted)[mine])
            weights.append(topology_weight(size))
        skews = [each.constraint.max_skew for each in needs.soft]
        raw = raw_scores(counts, weights, skews, [mine >= 0 for mine in of])
        return final_scores(raw, ignored).astype(np.float64) * self.weight


_made: WeakKeyDictionary[Plugin, _Score] = WeakKeyDictionary()
