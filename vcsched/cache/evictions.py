"""What has been evicted, what could not be, and who won room from which queue (spec 02 §15, design-notes §7 row 4).

A pod that the API server does not let go (a webhook, a missing right, an overloaded server) is asked for again at
once, then after 2, 4, … seconds, a minute at most; meanwhile it is no victim, and others may be. All of this is
kept in memory only, and the oldest is forgotten first: then somebody is asked once more than need be.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vcsched.kube.objects import PodCondition
    from vcsched.model.job import Job
    from vcsched.model.task import Task

DELETED = "deleted"
LONGEST_PAUSE_S = 60.0
_SHOWN = 1_000
_KNOWN = 10_000


@dataclass(slots=True)
class Evicted:
    """One eviction, for the question who was evicted, why and for whom."""

    at: float  # unix seconds
    pod: str
    job: str
    queue: str
    reason: str  # the action's name, and for a gang that goes whole what became of it
    beneficiary: str  # key of the job it was made for; "" if for none
    to_queue: str  # that job's queue
    outcome: str = ""  # DELETED, or why it was refused; "" while the API server has not answered

    @property
    def action(self) -> str:
        return self.reason.partition(":")[0]


class Refusal(NamedTuple):
    """A pod that the API server does not let go."""

    pod: str
    times: int  # in a row
    until: float  # unix seconds before which it is not asked for again
    reason: str
    was_ready: PodCondition | None  # its condition before the first of these attempts


class EvictionLedger:
    """`latest` are the last evictions, oldest first; `refusals`, by pod uid, are those that failed since."""

    def __init__(self) -> None:
        self.latest: deque[Evicted] = deque(maxlen=_SHOWN)
        self.refusals: dict[str, Refusal] = {}
        self._ended: list[Evicted] = []
        self._won: dict[str, tuple[Job, set[str]]] = {}  # job key -> the job, queues that lost pods to it

    def end(self, entry: Evicted, outcome: str) -> None:
        """The API server has answered."""
        entry.outcome = outcome
        self._ended.append(entry)

    def take_ended(self) -> list[Evicted]:
        """Those that were answered since the last call."""
        ended, self._ended = self._ended, []
        return ended

    # ------------------------------------------------------------------ refusals

    def refused(self, task: Task, reason: str, now: float, was_ready: PodCondition | None = None) -> Refusal:
        """The API server does not let a pod go."""
        known = self.refusals.pop(task.uid, None)
        times = known.times + 1 if known is not None else 1
        pause_s = min(LONGEST_PAUSE_S, 2.0 ** (times - 1)) if times > 1 else 0.0
        refusal = self.refusals[task.uid] = Refusal(task.key, times, now + pause_s, reason, was_ready)
        _forget_oldest(self.refusals)
        return refusal

    def let_go(self, task: Task) -> None:
        """The API server deletes the pod."""
        self.refusals.pop(task.uid, None)

    def refused_until(self, task: Task) -> float:
        """The unix time before which the pod is no victim; 0 if it may be one."""
        refusal = self.refusals.get(task.uid) if self.refusals else None
        return refusal.until if refusal is not None else 0.0

    # ------------------------------------------------------------------ who won from whom

    def won(self, job: Job, queue: str) -> None:
        """A job got room at the expense of another queue."""
        known = self._won.pop(job.key, None)
        lost = known[1] if known is not None and known[0] is job else set()
        self._won[job.key] = (job, {*lost, queue})
        _forget_oldest(self._won)

    def has_won(self, job: Job, queue: str) -> bool:
        """Whether a job got room at the expense of this queue."""
        known = self._won.get(job.key)
        return known is not None and known[0] is job and queue in known[1]


def _forget_oldest(known: dict[str, Refusal] | dict[str, tuple[Job, set[str]]]) -> None:
    if len(known) > _KNOWN:
        del known[next(iter(known))]
