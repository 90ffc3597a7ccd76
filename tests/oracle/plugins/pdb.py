"""pdb: disruption budgets, counted anew for every question (spec 05 §12)."""

from __future__ import annotations

from tests.oracle.points import PERMIT, Vote
from tests.oracle.selectors import Object, has_requirements, selects
from tests.oracle.task import Task

from .base import Plugin


class DisruptionBudgets(Plugin):
    def preemptable(self, evictor: Task, candidates: list[Task]) -> tuple[list[Task], Vote]:
        budgets = self.session.disruption_budgets
        left = [(budget.get("status") or {}).get("disruptionsAllowed", 0) for budget in budgets]
        victims = []
        for task in candidates:
            if not task.labels:  # the reference never evicts pods without labels
                continue
            violates = False
            for number, budget in enumerate(budgets):
                if guards(budget, task):
                    left[number] -= 1
                    violates = violates or left[number] < 0
            if not violates:
                victims.append(task)
        return victims, PERMIT

    reclaimable = preemptable


def guards(budget: Object, task: Task) -> bool:
    """Whether an eviction of the task would use the budget."""
    selector = (budget.get("spec") or {}).get("selector") or {}
    if budget["metadata"].get("namespace", "") != task.namespace or not has_requirements(selector):
        return False
    disrupted = (budget.get("status") or {}).get("disruptedPods") or {}
    return selects(selector, task.labels) and task.name not in disrupted
