"""Soft topology spread: towards domains with fewer pods of a kind.

How much a domain weighs depends on how many there are among the candidates, so nothing is kept. Pods that
declare no constraint are spread over hosts and zones against the pods of their Services and their owner.
Spec 06 §3.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from vcsched.columns.counters import Numbers
from vcsched.columns.table import FloatArray
from vcsched.framework.plugin import Ask, Nodes, Plugin
from vcsched.kube.keys import HOSTNAME
from vcsched.model.spread import final_scores, topology_weight, weighed, whole

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
        total = np.zeros(nodes.k)
        for each, mine in zip(needs.soft, of, strict=True):
            key, tally, skew = each.constraint.topology_key, each.question.tally, each.constraint.max_skew
            if key == HOSTNAME:
                weight = topology_weight(nodes.k - int(np.count_nonzero(ignored)))
                counts = tally.per_domain(topology.by_row())[nodes.rows]
                total += np.where(mine >= 0, weighed(counts, weight, skew), 0.0)
            else:
                # among the candidates a missing label is one more value, though it adds nothing
                weight = topology_weight(distinct(mine[~ignored]))
                counts = tally.per_domain(topology.by_counted_label(key, ask.form, each.inclusion))
                added = weighed(counts, weight, skew)
                added[-1] = 0.0
                total += added[mine]
        return final_scores(whole(total), ignored) * self.weight


def distinct(numbers: Numbers) -> int:
    """How many different numbers there are; -1 is one. (Counting them all is faster than sorting.)"""
    return int(np.count_nonzero(np.bincount(numbers + 1)))


_made: WeakKeyDictionary[Plugin, _Score] = WeakKeyDictionary()
