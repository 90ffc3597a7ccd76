"""What pods ask about other pods, numbered, so that pods that ask the same share the answers.

What a pod asks follows from its form, from the default spread rule and the `matchLabelKeys` values of its
labels, and from which of its own terms it meets itself. The first three are compiled once; per pod there
remain a few look-ups. Spec 06 §2.12, §2.16, §3.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from vcsched.cache.podrelations import Counted, Needs, Question, SpreadBy
from vcsched.cache.topology import Inclusion
from vcsched.cache.workloads import WorkloadSelectors
from vcsched.model.pod_affinity import PodAffinityRule, PodTerm
from vcsched.model.selectors import NOBODY, LabelRule, Labels, Selector
from vcsched.model.spread import Constraint, Spread, spread_of

if TYPE_CHECKING:
    from vcsched.model.form import Form
    from vcsched.model.task import Task


class FindQuestion(Protocol):
    def __call__(self, selector: Selector, *, living: bool = False) -> Question: ...


class Itself(NamedTuple):
    """Which of its own wishes a pod meets itself."""

    affinity: bool  # all required affinity terms: it may be the first of its kind
    hard: tuple[bool, ...]  # per hard spread constraint: it adds to the count of its domain


class Wishes:
    """The terms and constraints of a form, for some labels; `numbers` of the needs by what a pod itself meets."""

    __slots__ = ("numbers", "rule", "spread")

    def __init__(self, rule: PodAffinityRule, spread: Spread) -> None:
        self.rule = rule
        self.spread = spread
        self.numbers: dict[Itself, int] = {}

    @property
    def are_none(self) -> bool:
        return not (self.rule.terms or self.spread.hard or self.spread.soft)

    def met_by(self, namespace: str, labels: Labels) -> Itself:
        """What a pod with these labels meets."""
        return Itself(
            bool(self.rule.affinity) and self.rule.matches_itself(namespace, labels),
            tuple(constraint.counts_itself(labels) for constraint in self.spread.hard),
        )


class PodNeeds:
    """Needs by number. `question` finds the counter of a selector, `rule_of` the affinity terms of a form."""

    def __init__(
        self,
        question: FindQuestion,
        rule_of: Callable[[Form], PodAffinityRule],
        workloads: WorkloadSelectors,
        numbers: Iterator[int],
    ) -> None:
        self.spreads_by_default = False
        self._question = question
        self._rule_of = rule_of
        self._workloads = workloads
        self._numbers = numbers
        self._wishes: dict[tuple[object, ...], Wishes] = {}
        self._number_of: dict[Needs, int] = {}
        self._needs: dict[int, Needs] = {}

    def of(self, task: Task) -> int | None:
        """The number of what a pod asks; None if it asks nothing."""
        form = task.form
        spec = form.spec
        default = NOBODY
        keys: tuple[str, ...] = ()
        if spec.topology_spread_constraints:
            keys = form.compiled(_label_keys)
        elif self.spreads_by_default:
            default = self._workloads.rule_of(task.pod)
        if spec.affinity is None and not spec.topology_spread_constraints and default is NOBODY:
            return None
        labels = task.pod.metadata.labels
        wishes = self._wishes_of(form, labels, default, keys)
        if wishes.are_none:
            return None
        itself = wishes.met_by(form.namespace, labels)
        number = wishes.numbers.get(itself)
        if number is None:
            number = wishes.numbers[itself] = self._number(self._build(wishes, itself))
        return number

    def at(self, number: int) -> Needs | None:
        """The needs with this number."""
        return self._needs.get(number)

    def forget_wishes(self) -> None:
        """Terms mean other namespaces now, or numbers were given up: compile anew."""
        self._wishes.clear()

    def keep(self, wanted: set[Needs]) -> bool:
        """Give up the numbers of all other needs; True if there were any."""
        if len(wanted) >= len(self._needs):
            return False
        self._needs = {number: needs for number, needs in self._needs.items() if needs in wanted}
        self._number_of = {needs: number for number, needs in self._needs.items()}
        self.forget_wishes()
        return True

    def _wishes_of(self, form: Form, labels: Labels, default: LabelRule, keys: tuple[str, ...]) -> Wishes:
        name = (form, default, *[labels.get(key) for key in keys])
        wishes = self._wishes.get(name)
        if wishes is None:
            spread = spread_of(form.spec, form.namespace, labels, default)
            wishes = self._wishes[name] = Wishes(self._rule_of(form), spread)
        return wishes

    def _number(self, needs: Needs) -> int:
        number = self._number_of.get(needs)
        if number is None:
            number = self._number_of[needs] = next(self._numbers)
            self._needs[number] = needs
        return number

    def _build(self, wishes: Wishes, itself: Itself) -> Needs:
        rule, spread = wishes.rule, wishes.spread
        all_soft = spread.needs_all_keys
        return Needs(
            together=self._question(rule.together) if rule.affinity else None,
            together_keys=tuple(term.topology_key for term in rule.affinity),
            may_start=itself.affinity,
            apart=self._counted(rule.anti_affinity),
            preferred=self._counted(rule.preferred),
            hard=self._spread_by(spread.hard, itself.hard, all_keys=True),
            soft=self._spread_by(spread.soft, (False,) * len(spread.soft), all_keys=all_soft),
            needs_all_keys=all_soft,
        )

    def _counted(self, terms: tuple[PodTerm, ...]) -> tuple[Counted, ...]:
        return tuple(Counted(self._question(t.selector), t.topology_key, t.weight) for t in terms)

    def _spread_by(
        self, constraints: tuple[Constraint, ...], itself: tuple[bool, ...], *, all_keys: bool
    ) -> tuple[SpreadBy, ...]:
        keys = tuple(c.topology_key for c in constraints) if all_keys else ()
        return tuple(
            SpreadBy(
                constraint,
                self._question(constraint.selector, living=True),
                Inclusion(keys, constraint.honors_affinity, constraint.honors_taints),
                counts_itself,
            )
            for constraint, counts_itself in zip(constraints, itself, strict=True)
        )


def _label_keys(form: Form) -> tuple[str, ...]:
    """The label keys whose values are part of the form's spread constraints."""
    constraints = form.spec.topology_spread_constraints
    return tuple(sorted({key for constraint in constraints for key in constraint.match_label_keys}))
