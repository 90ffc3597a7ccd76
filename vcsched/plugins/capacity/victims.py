"""Whose tasks a queue may take back (spec 05 §8.4-8.5, §9.5).

A queue gives what it holds beyond the amount it deserves, of resources that the reclaimer asks for, and
never below its guarantee. A task that asks for nothing its queue deserves may go at once. In a tree
`ancestorReclaimLevel` also spares what the ancestors of the victim's queue deserve.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vcsched.columns.live import LiveQueue
from vcsched.columns.space import PODS
from vcsched.framework.plugin import PERMIT, REJECT
from vcsched.framework.victims import victim_less
from vcsched.model.queue import ROOT

if TYPE_CHECKING:
    from vcsched.framework.points import EvictionContext
    from vcsched.framework.session import Session
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task
    from vcsched.plugins.capacity.books import Books

Victims = tuple[Sequence["Task"], int]
Rest = list[float]  # what is left of what a queue holds, one amount a column


class Reclaim:
    """Judges candidates in one session. `level` is how many ancestors are looked at."""

    def __init__(self, ssn: Session, books: Books, level: int) -> None:
        self._ssn = ssn
        self._books = books
        self._level = level if books.tree.levels else 0
        root = books.tree.paths.get(ROOT)
        self._root = root[0] if root else -1

    def victims(self, reclaimer: Task, candidates: Sequence[Task]) -> Victims:
        """The candidates that may go, in the order in which they would."""
        home = reclaimer.job.queue if reclaimer.job is not None else None
        if home is None or home.name not in self._books.ways:
            return (), REJECT
        least = self._books.least
        wanted = {column for column, amount in reclaimer.request.items if amount >= least[column] and column != PODS}
        waiting = LiveQueue(victim_less(self._ssn, reclaimer))
        for task in candidates:
            if not wanted.isdisjoint(column for column, amount in task.request.items if amount >= least[column]):
                waiting.push(task)
        rests: dict[int, Rest] = {}
        chosen = []
        while waiting:
            task = waiting.pop()
            queue = task.job.queue if task.job is not None else None
            if queue is None or queue.name not in self._books.tree.paths:
                continue
            rest = self._rest(rests, queue.row)
            if not self._keeps_guarantee(task, queue.row, rest):
                continue
            if self._is_undeserved(task, queue.row):
                if self._spares_relatives(reclaimer, home, queue):
                    continue
            elif not self._exceeds(task, queue.row, rest):
                continue
            above = self._ancestors(rests, task, queue, home)
            if above is None:
                continue
            for each in (rest, *above):
                _take(each, task)
            chosen.append(task)
        return chosen, PERMIT

    def gang_victims(self, evictor: EvictionContext, candidates: Sequence[Task]) -> Victims:
        """For the gang actions: within a queue any candidate, between queues those beyond what theirs deserves."""
        if evictor.kind == "gangpreempt":
            return candidates, PERMIT
        if evictor.job.queue is None or evictor.job.queue.name not in self._books.ways:
            return (), REJECT
        rests: dict[int, Rest] = {}
        chosen = []
        for task in candidates:
            queue = task.job.queue if task.job is not None else None
            if queue is None or queue.name not in self._books.tree.paths:
                continue
            row, rest = queue.row, self._rest(rests, queue.row)
            if not self._keeps_guarantee(task, row, rest):
                continue
            if self._is_undeserved(task, row) or self._exceeds(task, row, rest):
                _take(rest, task)
                chosen.append(task)
        return chosen, PERMIT

    # ------------------------------------------------------------------ tests of one candidate

    def _rest(self, rests: dict[int, Rest], row: int) -> Rest:
        rest = rests.get(row)
        if rest is None:
            rest = rests[row] = self._books.copy_of(row)
        return rest

    def _keeps_guarantee(self, task: Task, row: int, rest: Rest) -> bool:
        """Whether the queue still has its guarantee without the task."""
        books = self._books
        asked = dict(task.request.items)
        for column, guarantee in enumerate(books.guarantee):
            due = guarantee[row]
            if due > 0 and due - (rest[column] - asked.get(column, 0.0)) >= books.least[column]:
                return False
        return True

    def _is_undeserved(self, task: Task, row: int) -> bool:
        """Whether the queue deserves nothing of what the task asks; `pods` counts if it is deserved."""
        deserved, least = self._books.deserved, self._books.least
        return not any(
            amount >= least[column] and deserved[column][row] >= least[column] for column, amount in task.request.items
        )

    def _exceeds(self, task: Task, row: int, rest: Rest) -> bool:
        """Whether the queue has more than it deserves of something that the task asks for."""
        deserved, named = self._books.deserved, self._books.named
        return any(
            amount > 0 and column != PODS and named[column][row] and rest[column] > deserved[column][row]
            for column, amount in task.request.items
        )

    def _spares_relatives(self, reclaimer: Task, home: Queue, queue: Queue) -> bool:
        """Among near relatives nobody takes what neither deserves."""
        if not self._level or queue is home:
            return False
        shared = self._near(home) & self._near(queue)
        return bool(shared) and self._is_undeserved(reclaimer, home.row)

    def _near(self, queue: Queue) -> set[int]:
        """The ancestors within reach, the root aside."""
        path = self._books.tree.paths[queue.name]
        return set(path[:-1][-self._level :]) - {self._root}

    def _ancestors(self, rests: dict[int, Rest], task: Task, queue: Queue, home: Queue) -> list[Rest] | None:
        """What is left for the ancestors that were asked; None if one of them needs the task."""
        asked: list[Rest] = []
        tree = self._books.tree
        for level in range(1, self._level + 1):
            row = tree.ancestor(queue, level)
            if row is None or row == self._root or row == tree.ancestor(home, level):
                continue
            rest = self._rest(rests, row)
            if not self._is_undeserved(task, row) and not self._exceeds(task, row, rest):
                return None
            asked.append(rest)
        return asked


def _take(rest: Rest, task: Task) -> None:
    for column, amount in task.request.items:
        rest[column] -= amount
