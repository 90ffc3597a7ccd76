"""Label selectors: which pods somebody means.

A selector is compiled once into a small value that is equal for selectors that say the same, so that it
can be the key of a registry of counters, however many pods use it. A selector that is not there (null)
means nobody, an empty one everybody; one that cannot be read means nobody, and `problem` tells why.
Node selectors have more operators; they are in `node_affinity`. Spec 01 §4, spec 06 §2.9, §2.12.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from vcsched.kube.objects import LabelSelector
from vcsched.model.gotext import parse_int
from vcsched.model.names import is_qualified_name

IN = "In"
NOT_IN = "NotIn"
EXISTS = "Exists"
DOES_NOT_EXIST = "DoesNotExist"
GREATER = "Gt"
LESS = "Lt"
LABEL_OPERATORS = (IN, NOT_IN, EXISTS, DOES_NOT_EXIST)

Labels = Mapping[str, str]


class Requirement(NamedTuple):
    """One condition on one label; `values` is sorted and has no doubles."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def accepts(self, value: str | None) -> bool:
        """Whether a label with this value (None: absent) meets the condition."""
        operator = self.operator
        if operator == IN:
            return value in self.values
        if operator == NOT_IN:
            return value not in self.values
        if operator == EXISTS:
            return value is not None
        if operator == DOES_NOT_EXIST:
            return value is None
        number, bound = None if value is None else parse_int(value), parse_int(self.values[0])
        if number is None or bound is None:
            return False
        return number > bound if operator == GREATER else number < bound


def requirement(key: str, operator: str, values: Iterable[str] = ()) -> Requirement:
    """A requirement in canonical form; `flaw` says whether it makes sense."""
    return Requirement(key, operator, tuple(sorted(set(values))))


def flaw(key: str, operator: str, values: tuple[str, ...], operators: tuple[str, ...]) -> str:
    """Why a requirement with these parts makes no sense where `operators` are known, or ""."""
    if operator not in operators:
        return f"operator is {operator!r}; it must be one of {', '.join(operators)}"
    if not is_qualified_name(key):
        return f"key is {key!r}; it must be a label key such as app or example.com/app"
    if operator in (IN, NOT_IN) and not values:
        return f"operator {operator} on key {key} has no values; it needs at least one"
    if operator in (EXISTS, DOES_NOT_EXIST) and values:
        return f"operator {operator} on key {key} has values; it takes none"
    if operator in (GREATER, LESS) and (len(values) != 1 or parse_int(values[0]) is None):
        return f"operator {operator} on key {key} has values {list(values)}; it takes one whole number"
    return ""


class LabelRule(NamedTuple):
    """A compiled label selector: all `requirements` must hold, or nobody matches at all if it is None."""

    requirements: tuple[Requirement, ...] | None

    def matches(self, labels: Labels) -> bool:
        """Whether something with these labels is meant."""
        if self.requirements is None:
            return False
        get = labels.get
        return all(condition.accepts(get(condition.key)) for condition in self.requirements)

    def joined(self, more: Iterable[Requirement]) -> LabelRule:
        """This rule and further requirements together."""
        if self.requirements is None:
            return NOBODY
        return LabelRule(tuple(sorted({*self.requirements, *more})))


NOBODY = LabelRule(None)
EVERYBODY = LabelRule(())


def problem(selector: LabelSelector | None) -> str:
    """Why a label selector cannot be read, or ""."""
    if selector is None:
        return ""
    for key in selector.match_labels:
        if why := flaw(key, IN, ("",), LABEL_OPERATORS):
            return f"matchLabels: {why}"
    for index, part in enumerate(selector.match_expressions):
        if why := flaw(part.key, part.operator, part.values, LABEL_OPERATORS):
            return f"matchExpressions[{index}]: {why}"
    return ""


def compile_label_selector(selector: LabelSelector | None) -> LabelRule:
    """The rule of a selector; null and unreadable selectors match nobody, an empty one everybody."""
    if selector is None or problem(selector):
        return NOBODY
    pairs = (requirement(key, IN, (value,)) for key, value in selector.match_labels.items())
    parts = (requirement(part.key, part.operator, part.values) for part in selector.match_expressions)
    return EVERYBODY.joined([*pairs, *parts])


def compile_pairs(pairs: Labels) -> LabelRule:
    """The rule of a plain map of labels, as Services and ReplicationControllers have it."""
    return EVERYBODY.joined(requirement(key, IN, (value,)) for key, value in pairs.items())


class Selector(NamedTuple):
    """Pods by namespace and labels. Hashable; equal selectors mean the same pods. None: every namespace."""

    namespaces: frozenset[str] | None
    rule: LabelRule

    @property
    def is_nobody(self) -> bool:
        """Whether no pod can ever match."""
        return self.rule.requirements is None or self.namespaces == frozenset()

    def matches(self, labels: Labels) -> bool:
        """Whether the labels are meant; the namespace is not looked at."""
        return self.rule.matches(labels)

    def selects(self, namespace: str, labels: Labels) -> bool:
        """Whether a pod is meant."""
        return (self.namespaces is None or namespace in self.namespaces) and self.rule.matches(labels)

    @property
    def index_key(self) -> tuple[str, str] | None:
        """A label pair that every pod meant has, to find candidates by; None if there is no such pair.

        Of several the longest value is taken, as the likeliest to be rare: `job-4711` before `web`.
        """
        pairs = [
            (part.key, part.values[0])
            for part in self.rule.requirements or ()
            if part.operator == IN and len(part.values) == 1
        ]
        return max(pairs, key=lambda pair: (len(pair[1]), pair), default=None)


def conjunction(selectors: Iterable[Selector]) -> Selector:
    """The pods that all of these mean; without any, every pod."""
    namespaces: frozenset[str] | None = None
    rule = EVERYBODY
    for selector in selectors:
        if selector.namespaces is not None:
            namespaces = selector.namespaces if namespaces is None else namespaces & selector.namespaces
        rule = NOBODY if selector.rule.requirements is None else rule.joined(selector.rule.requirements)
    return Selector(namespaces, rule)
