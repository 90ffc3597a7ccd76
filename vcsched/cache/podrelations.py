"""What pods have to do with other pods, as things that are counted and numbered.

A `Question` counts the pods that a selector means. A `Term` counts the pods that own an affinity term, so
that a new pod which the term means can be kept off or drawn near. `Needs` is what a pod itself asks about
others. A pod's match (the second half of its shape) is the set of the terms that mean it and of its needs,
by number, so pods with the same match get the same answers whatever their other labels. Spec 06 §2.12,
§2.16, §3.6, §3.7.
"""

from __future__ import annotations

from typing import NamedTuple

from vcsched.cache.topology import Inclusion
from vcsched.columns.counters import Clock, Tally
from vcsched.model.selectors import Labels, Selector
from vcsched.model.spread import Constraint
from vcsched.model.task import Task


class Question:
    """Pods that `selector` means, counted by row; `living`: without those that are being deleted."""

    __slots__ = ("living", "number", "selector", "tally")

    def __init__(self, number: int, selector: Selector, living: bool, clock: Clock) -> None:
        self.number = number
        self.selector = selector
        self.living = living
        self.tally = Tally(clock)


class Term:
    """Owners, counted by row, of one affinity term. `weight` 0: required anti-affinity; else preferred
    affinity, or anti-affinity if negative."""

    __slots__ = ("number", "selector", "tally", "topology_key", "weight")

    def __init__(self, number: int, selector: Selector, topology_key: str, weight: int, clock: Clock) -> None:
        self.number = number
        self.selector = selector
        self.topology_key = topology_key
        self.weight = weight
        self.tally = Tally(clock)


class Counted(NamedTuple):
    """A question and the topology key it is counted over; `weight` as in `Term`."""

    question: Question
    topology_key: str
    weight: int = 0


class SpreadBy(NamedTuple):
    """A spread constraint with its counter and the rows it counts on.

    `counts_itself`: the pod being placed adds to its domain.
    """

    constraint: Constraint
    question: Question
    inclusion: Inclusion
    counts_itself: bool


class Needs(NamedTuple):
    """What a pod asks about other pods.

    `together` counts the pods that meet all its required affinity terms, which is asked over each of
    `together_keys`; `may_start` tells that it meets them itself, so the first of its kind may start alone.
    """

    together: Question | None
    together_keys: tuple[str, ...]
    may_start: bool
    apart: tuple[Counted, ...]
    preferred: tuple[Counted, ...]
    hard: tuple[SpreadBy, ...]
    soft: tuple[SpreadBy, ...]
    needs_all_keys: bool


NO_NEEDS = Needs(None, (), False, (), (), (), (), False)


class Relations:
    """Everything a match stands for; `keep_off` and `draw` are the terms of placed pods that mean the pod."""

    __slots__ = ("draw", "filtering", "keep_off", "needs", "scoring", "used")

    def __init__(self, terms: tuple[Term, ...], needs: Needs) -> None:
        self.keep_off = tuple(term for term in terms if not term.weight)
        self.draw = tuple(term for term in terms if term.weight)
        self.needs = needs
        together = (needs.together,) if needs.together is not None else ()
        self.filtering = (
            *(term.tally for term in self.keep_off),
            *(question.tally for question in together),
            *(counted.question.tally for counted in needs.apart),
        )
        self.scoring = (
            *(term.tally for term in self.draw),
            *(counted.question.tally for counted in needs.preferred),
        )
        self.used = 0


class PlacedPod:
    """A pod that counts on a row, as it was counted; taking it off undoes exactly that."""

    __slots__ = ("asked", "labels", "namespace", "owned", "row", "task", "terminating", "uid")

    def __init__(self, task: Task, row: int, asked: list[Question], owned: tuple[Term, ...]) -> None:
        self.task = task
        self.uid = task.uid
        self.namespace = task.namespace
        self.row = row
        self.labels: Labels = task.pod.metadata.labels
        self.terminating = task.pod.metadata.deletion_timestamp is not None
        self.asked = asked
        self.owned = owned

    def count(self, amount: int) -> None:
        """Add the pod to the counters that count it, or take it off with -1."""
        for question in self.asked:
            if not (self.terminating and question.living):
                question.tally.add(self.row, amount)
        for term in self.owned:
            term.tally.add(self.row, amount)
