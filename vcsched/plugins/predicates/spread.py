"""Topology spread: hard constraints rule out nodes whose domain would get too far ahead of the emptiest one.

Pods that are being deleted do not count. Spec 06 §2.16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.framework.plugin import Ask, Form, Nodes, Plugin, Verdict
from vcsched.model.selectors import NOBODY
from vcsched.model.spread import fits_skew, least_count, spread_of
from vcsched.model.status import UNRESOLVABLE, UNSCHEDULABLE

if TYPE_CHECKING:
    from vcsched.framework.session import Session

REASON = "node(s) didn't match pod topology spread constraints"
MISSING = f"{REASON} (missing required label)"


class SpreadFilter:
    """Made once per plugin object, since kept columns last while the same functions are registered."""

    def register(self, plugin: Plugin, ssn: Session) -> None:
        self._counters = ssn.world.counters
        ssn.predicate.add(plugin, vector=self.refuse, reads="pods", applies=self.applies, version=self.version)

    def applies(self, ask: Ask) -> bool:
        return bool(self._counters.relations(ask.shape.match).needs.hard)

    def version(self, ask: Ask) -> int:
        hard = self._counters.relations(ask.shape.match).needs.hard
        return max(self._counters.topology.changed, *(each.question.tally.changed for each in hard))

    def refuse(self, ask: Ask, nodes: Nodes, verdict: Verdict) -> None:
        topology = self._counters.topology
        hard = self._counters.relations(ask.shape.match).needs.hard
        for each in hard:
            rule = each.constraint
            counted = topology.by_counted_label(rule.topology_key, ask.form, each.inclusion)
            sums = each.question.tally.per_domain(counted)
            least = least_count(sums[counted.present], rule.min_domains)
            mine = topology.by_label(rule.topology_key).of[nodes.rows]
            verdict.fail(mine < 0, MISSING, UNRESOLVABLE)
            fits = fits_skew(sums[mine], each.counts_itself, least, rule.max_skew)
            verdict.fail(~fits, REASON, UNSCHEDULABLE)


def problem(form: Form) -> str:
    """Why the constraints of a pod cannot be read, or ""."""
    if not form.spec.topology_spread_constraints:
        return ""
    error: str = form.compiled(_error)
    return f"get constraints from pod: {error}" if error else ""


def _error(form: Form) -> str:
    return spread_of(form.spec, form.namespace, {}, NOBODY).error
