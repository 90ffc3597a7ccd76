"""pdb: evictions keep within the PodDisruptionBudgets of the pods (spec 05 §12).

A budget is shared by all evictions of a session, those of earlier sessions included that its status does not
show yet; pods under no budget are free, and of shuffle's victims only those that others have named are looked
at. Under `pdbStrict` each vote has the whole budget, pods without labels never go, and shuffle is offered
every pod that a budget lets go (design-notes §7 row 21).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vcsched.framework.plugin import EVICT, PERMIT, Ledger, Op, Plugin
from vcsched.model.selectors import LabelRule, compile_label_selector

if TYPE_CHECKING:
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session
    from vcsched.kube.objects import PodDisruptionBudget
    from vcsched.model.task import Task

FORGOTTEN_S = 120.0
"""After this time an eviction that the status of a budget never showed is taken for one that came to nothing."""


class Budget(NamedTuple):
    """A budget that selects somebody."""

    key: str
    obj: PodDisruptionBudget
    rule: LabelRule

    def covers(self, task: Task) -> bool:
        """Whether evicting the pod would take from the budget; an eviction that it knows of does not."""
        return task.name not in self.obj.status.disrupted_pods and self.rule.matches(task.pod.metadata.labels)


class Spent:
    """What evictions took from a budget since its status last changed."""

    __slots__ = ("at", "count", "obj")

    def __init__(self, obj: PodDisruptionBudget) -> None:
        self.obj = obj
        self.count = 0
        self.at = 0.0


class Budgets(Ledger):
    """The budgets of the cluster, and what was taken from them. Lives as long as its plugin."""

    lasting = True

    def __init__(self) -> None:
        self._rules: dict[str, tuple[Any, LabelRule]] = {}  # key -> (selector, its rule)
        self._spent: dict[str, Spent] = {}

    def begin(self, ssn: Session) -> None:
        """A session opens; budgets are read when they are first asked for."""
        self._all = ssn.world.budgets
        self._now = ssn.now
        self._by_namespace: dict[str, list[Budget]] | None = None

    def of(self, task: Task) -> list[Budget]:
        """The budgets that an eviction of the task takes from."""
        if self._by_namespace is None:
            self._by_namespace = self._read()
        return [budget for budget in self._by_namespace.get(task.namespace, ()) if budget.covers(task)]

    def left(self, budget: Budget) -> int:
        """How many evictions the budget still allows."""
        allowed = budget.obj.status.disruptions_allowed
        spent = self._spent.get(budget.key)
        return allowed if spent is None or not self._counts(spent, budget) else allowed - spent.count

    def apply(self, op: Op, again: Any = None) -> list[Spent]:
        """A victim takes from its budgets."""
        taken = []
        for budget in self.of(op.task) if op.kind == EVICT else ():
            spent = self._spent.get(budget.key)
            if spent is None or not self._counts(spent, budget):
                spent = self._spent[budget.key] = Spent(budget.obj)
            spent.count += 1
            spent.at = self._now
            taken.append(spent)
        return taken

    def undo(self, op: Op, token: list[Spent]) -> None:
        for spent in token:
            spent.count -= 1

    def _counts(self, spent: Spent, budget: Budget) -> bool:
        return spent.obj is budget.obj and self._now - spent.at < FORGOTTEN_S

    def _read(self) -> dict[str, list[Budget]]:
        found: dict[str, list[Budget]] = {}
        for gone in [key for key in (*self._rules, *self._spent) if key not in self._all]:
            self._rules.pop(gone, None)
            self._spent.pop(gone, None)
        for key, obj in sorted(self._all.items()):
            selector = obj.spec.selector
            known = self._rules.get(key)
            if known is None or known[0] is not selector:
                known = self._rules[key] = (selector, compile_label_selector(selector))
            if known[1].requirements:  # an empty selector, like an unreadable one, is no budget
                found.setdefault(obj.metadata.namespace, []).append(Budget(key, obj, known[1]))
        return found


class Pdb(Plugin):
    name = "pdb"

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self._budgets = Budgets()

    def open(self, ssn: Session) -> None:
        self._strict = ssn.compat.pdb_strict
        self._budgets.begin(ssn)
        ssn.preemptable.add(self, self.vote)
        ssn.reclaimable.add(self, self.vote)
        if ssn.compat.gang_victim_scope == "protective":
            ssn.unified_evictable.add(self, self.vote)
        if self._strict:
            ssn.victim_tasks.add(self, self.within_budgets)
        else:
            ssn.victim_tasks.protect(self, self.within_budgets)
            ssn.ledgers.add(self, self._budgets)

    def vote(self, evictor: Any, candidates: Sequence[Task]) -> tuple[Sequence[Task], int]:
        return self.within_budgets(candidates), PERMIT

    def within_budgets(self, tasks: Sequence[Task]) -> list[Task]:
        """The tasks, in their order, that may go one after the other.

        One that goes too far for one budget still takes from its others.
        """
        budgets = self._budgets
        left: dict[str, int] = {}
        free = []
        for task in tasks:
            if self._strict and not task.pod.metadata.labels:
                continue
            too_far = False
            for budget in budgets.of(task):
                rest = left.get(budget.key)
                if rest is None:
                    rest = budget.obj.status.disruptions_allowed if self._strict else budgets.left(budget)
                left[budget.key] = rest - 1
                too_far |= rest < 1
            if not too_far:
                free.append(task)
        return free
