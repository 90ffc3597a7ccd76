"""Node selector and node affinity: on which nodes a pod may run, and where it would rather.

Compiled once per form into a `NodeRule`. A required term that cannot be read matches no node and the
others still count; a preferred term that cannot be read is an error of the whole pod, which
`preferred_error` tells. The rule is asked one node at a time (`matches`, `score`) or on columns
(`evaluate`). Spec 06 §2.9, §3.5.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from vcsched.kube.objects import NodeSelectorRequirement, NodeSelectorTerm, PodSpec
from vcsched.model.selectors import (
    GREATER,
    IN,
    LABEL_OPERATORS,
    LESS,
    NOT_IN,
    Labels,
    Requirement,
    flaw,
    requirement,
)

if TYPE_CHECKING:
    from vcsched.model.form import Form

NODE_OPERATORS = (*LABEL_OPERATORS, GREATER, LESS)
NAME_FIELD = "metadata.name"


class Term(NamedTuple):
    """Conditions that a node must meet together: on its labels, and on its name."""

    labels: tuple[Requirement, ...]
    names: tuple[Requirement, ...]

    def matches(self, labels: Labels, name: str) -> bool:
        """Whether a node meets all conditions."""
        get = labels.get
        return all(part.accepts(get(part.key)) for part in self.labels) and all(
            part.accepts(name) for part in self.names
        )


class NodeRule(NamedTuple):
    """What a pod says about nodes.

    `terms` is None where there is no required affinity; empty, it matches no node. `pinned` are the only
    node names the required terms can match, None where they do not name any.
    """

    selector: tuple[Requirement, ...]
    terms: tuple[Term, ...] | None
    preferred: tuple[tuple[int, Term], ...]
    preferred_error: str
    pinned: frozenset[str] | None

    @property
    def restricts(self) -> bool:
        """Whether some nodes may be out."""
        return bool(self.selector) or self.terms is not None

    @property
    def is_contradictory(self) -> bool:
        """Whether every term names a node and none can be met: `pod affinity terms conflict`."""
        return self.pinned is not None and not self.pinned

    @property
    def keys(self) -> tuple[str, ...]:
        """The distinct label keys that the rule reads, preferred terms included."""
        terms = [*(self.terms or ()), *(term for _, term in self.preferred)]
        parts = [*self.selector, *(part for term in terms for part in term.labels)]
        return tuple(sorted({part.key for part in parts}))

    def matches(self, labels: Labels, name: str) -> bool:
        """Whether the pod may run on a node with these labels and this name."""
        get = labels.get
        if not all(part.accepts(get(part.key)) for part in self.selector):
            return False
        return self.terms is None or any(term.matches(labels, name) for term in self.terms)

    def score(self, labels: Labels, name: str) -> int:
        """The sum of the weights of the preferred terms that a node meets."""
        return sum(weight for weight, term in self.preferred if term.matches(labels, name))


def node_rule(spec: PodSpec) -> NodeRule:
    """The rule of a pod."""
    selector = tuple(requirement(key, IN, (value,)) for key, value in sorted(spec.node_selector.items()))
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if affinity is None:
        return NodeRule(selector, None, (), "", None)
    terms: tuple[Term, ...] | None = None
    pinned: frozenset[str] | None = None
    if affinity.required is not None:
        asked = affinity.required.node_selector_terms
        terms = tuple(_term(term) for term in asked if not is_empty(term) and not problem(term))
        pinned = _pinned(asked)
    preferred = []
    error = ""
    for index, weighted in enumerate(affinity.preferred):
        if weighted.weight == 0 or is_empty(weighted.preference):
            continue
        if why := problem(weighted.preference):
            error = error or f"preferred node affinity term {index}: {why}"
        else:
            preferred.append((weighted.weight, _term(weighted.preference)))
    return NodeRule(selector, terms, tuple(preferred), error, pinned)


def rule_of(form: Form) -> NodeRule:
    """The rule of a form, made once."""
    rule: NodeRule = form.compiled(_rule)
    return rule


def _rule(form: Form) -> NodeRule:
    return node_rule(form.spec)


def is_empty(term: NodeSelectorTerm) -> bool:
    """Whether a term says nothing; such a term matches no node."""
    return not term.match_expressions and not term.match_fields


def problem(term: NodeSelectorTerm) -> str:
    """Why a term cannot be read, or ""."""
    for index, part in enumerate(term.match_expressions):
        if why := flaw(part.key, part.operator, part.values, NODE_OPERATORS):
            return f"matchExpressions[{index}]: {why}"
    for index, part in enumerate(term.match_fields):
        if part.key != NAME_FIELD or part.operator not in (IN, NOT_IN) or len(part.values) != 1:
            return f"matchFields[{index}]: only {NAME_FIELD} In or NotIn one name can be read"
    return ""


def evaluate(
    rule: NodeRule,
    everything: Any,
    label: Callable[[Requirement], Any],
    name: Callable[[Requirement], Any],
) -> Any:
    """`matches` on many nodes at once (or one, with plain booleans).

    `everything` is a mask that is true for each node asked; `label` and `name` give the mask of the nodes
    whose label or name a requirement accepts. Masks are combined with `&` and `|`.
    """
    fits = everything
    for part in rule.selector:
        fits = fits & label(part)
    if rule.terms is None:
        return fits
    some = everything & False
    for term in rule.terms:
        some = some | _evaluate_term(term, everything, label, name)
    return fits & some


def evaluate_score(
    rule: NodeRule,
    everything: Any,
    label: Callable[[Requirement], Any],
    name: Callable[[Requirement], Any],
) -> Any:
    """`score` on many nodes at once: the weights of the preferred terms, summed as numbers."""
    total = everything * 0
    for weight, term in rule.preferred:
        total = total + weight * _evaluate_term(term, everything, label, name)
    return total


def _evaluate_term(
    term: Term, everything: Any, label: Callable[[Requirement], Any], name: Callable[[Requirement], Any]
) -> Any:
    fits = everything
    for part in term.labels:
        fits = fits & label(part)
    for part in term.names:
        fits = fits & name(part)
    return fits


def _term(term: NodeSelectorTerm) -> Term:
    return Term(_compiled(term.match_expressions), _compiled(term.match_fields))


def _compiled(parts: tuple[NodeSelectorRequirement, ...]) -> tuple[Requirement, ...]:
    return tuple(requirement(part.key, part.operator, part.values) for part in parts)


def _pinned(terms: tuple[NodeSelectorTerm, ...]) -> frozenset[str] | None:
    """The node names that terms which all name nodes leave; None if some term names none."""
    named: set[str] = set()
    for term in terms:
        pins = [set(p.values) for p in term.match_fields if p.key == NAME_FIELD and p.operator == IN]
        if not pins:
            return None
        named |= set.intersection(*pins)
    return frozenset(named) if terms else None
