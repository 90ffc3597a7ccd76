"""Pod affinity: pods that must be near some pods, or must not, and pods that others must not have near them.

Reads live counters, so a pod placed a moment ago counts, and one evicted a moment ago does not. A pod being
deleted still counts. Spec 06 §2.12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vcsched.framework.plugin import Ask, Form, Nodes, Plugin, Verdict
from vcsched.model.status import UNRESOLVABLE, UNSCHEDULABLE

if TYPE_CHECKING:
    from vcsched.framework.session import Session

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"


class PodAffinityFilter:
    """Made once per plugin object, since kept columns last while the same functions are registered."""

    def register(self, plugin: Plugin, ssn: Session) -> None:
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
        for counted in needs.apart:
            domains = topology.by_label(counted.topology_key)
            sums = counted.question.tally.per_domain(domains)
            verdict.fail(sums[domains.of[nodes.rows]] > 0, ANTI_AFFINITY, UNSCHEDULABLE)
        for term in relations.keep_off:
            domains = topology.by_label(term.topology_key)
            sums = term.tally.per_domain(domains)
            verdict.fail(sums[domains.of[nodes.rows]] > 0, EXISTING, UNSCHEDULABLE)

    def problem(self, form: Form) -> str:
        """Why the terms of the pod cannot be read, or ""."""
        affinity = form.spec.affinity
        if affinity is None or not (affinity.pod_affinity or affinity.pod_anti_affinity):
            return ""
        error = self._counters.rule_of(form).error
        return f"parsing pod: {error}" if error else ""
