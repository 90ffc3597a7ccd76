"""Pod affinity: pods that must be near some pods, or must not, and pods that others must not have near them.

Reads live counters, so a pod placed a moment ago counts, and one evicted a moment ago does not. A pod being
deleted still counts. Spec 06 §2.12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vcsched.framework.plugin import Ask, Fit, Form, Nodes, Plugin, Verdict
from vcsched.model.node import Node
from vcsched.model.status import UNRESOLVABLE, UNSCHEDULABLE

if TYPE_CHECKING:
    from vcsched.framework.session import Session

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"


class PodAffinityFilter:
    """Made once per plugin object, since kept columns last while the same functions are registered."""

    def register(self, plugin: Plugin, ssn: Session) -> None:
        self._world = ssn.world
        self._counters = ssn.world.counters
        ssn.predicate.add(plugin, vector=self.refuse, reads="pods", applies=self.applies, version=self.version)

    def applies(self, ask: Ask) -> bool:
        return bool(self._counters.relations(ask.shape.match).filtering)

    def version(self, ask: Ask) -> int:
        relations = self._counters.relations(ask.shape.match)
        return max(self._counters.topology.changed, *(tally.changed for tally in relations.filtering))

    def refuse(self, ask: Ask, nodes: Nodes, verdict: Verdict) -> None:
        topology = self._counters.topology
        relations = self._counters.relations(ask.shape.match)
        needs = relations.needs
        if needs.together is not None:
            has_keys = np.ones(nodes.k, dtype=np.bool_)
            met = has_keys
            somewhere = False
            for key in needs.together_keys:
                domains = topology.by_label(key)
                sums = needs.together.tally.per_domain(domains)
                mine = domains.of[nodes.rows]
                has_keys = has_keys & (mine >= 0)
                met = met & (sums[mine] > 0)
                somewhere = somewhere or bool(sums.any())
            # the first of its kind may start anywhere, else it would wait for itself
            fits = has_keys if needs.may_start and not somewhere else met
            verdict.fail(~fits, AFFINITY, UNRESOLVABLE)
        apart = [(counted.question.tally, counted.topology_key, ANTI_AFFINITY) for counted in needs.apart]
        existing = [(term.tally, term.topology_key, EXISTING) for term in relations.keep_off]
        for tally, key, reason in apart + existing:
            if tally.rows:
                domains = topology.by_label(key)
                taken = tally.per_domain(domains) > 0
                verdict.fail(taken[domains.of[nodes.rows]], reason, UNSCHEDULABLE)

    def simulated(self, ask: Ask, node: Node) -> Fit | None:
        """This filter alone on one node, as topology-aware preemption asks it (spec 06 §2.6)."""
        if not self.applies(ask):
            return None
        verdict = Verdict(1, [])
        self.refuse(ask, Nodes(self._world, np.array([node.row]), 1), verdict)
        code = int(verdict.codes[0])
        return Fit(code, verdict.texts[verdict.reasons[0] - 1]) if code else None

    def problem(self, form: Form) -> str:
        """Why the terms of the pod cannot be read, or ""."""
        affinity = form.spec.affinity
        if affinity is None or not (affinity.pod_affinity or affinity.pod_anti_affinity):
            return ""
        error = self._counters.rule_of(form).error
        return f"parsing pod: {error}" if error else ""
