"""sla: a job that has waited too long goes first, and past the limits that would hold it back (spec 05 §11.2).

How long is too long says the job's PodGroup, else the argument `sla-waiting-time`. From then on the plugin
votes for admission and for keeping promised room; its vote overrules plugins of later tiers only.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from vcsched.framework.plugin import ABSTAIN, PERMIT, Plugin, compare
from vcsched.model.gotext import parse_duration

if TYPE_CHECKING:
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session
    from vcsched.model.job import Job

_WAITING = "sla-waiting-time"


class Sla(Plugin):
    name = "sla"

    _ssn: Session

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self._default: float | None = None  # seconds
        text = args.str(_WAITING)
        if text:
            waiting = parse_duration(text)
            if waiting is not None and waiting > 0:
                self._default = waiting
            else:
                args.unusable(_WAITING, text, "a duration above 0 such as 30m or 1h", None)

    def open(self, ssn: Session) -> None:
        self._ssn = ssn
        ssn.job_order.add(self, self.earlier_deadline_first, key=self.order_key)
        ssn.job_enqueueable.add(self, self.vote)
        ssn.job_pipelined.add(self, self.vote)

    def deadline(self, job: Job) -> float | None:
        """The unix time from which the job has waited too long, or None if it may wait for ever."""
        waiting = job.waiting_time if job.waiting_time is not None else self._default
        return None if waiting is None else job.created + waiting

    def earlier_deadline_first(self, a: Job, b: Job) -> int:
        """Who may wait for ever comes last."""
        mine, other = self.deadline(a), self.deadline(b)
        if mine is None or other is None:
            return compare(mine is None, other is None)
        return compare(mine, other)

    def order_key(self, job: Job) -> float:
        """The same order as a number."""
        deadline = self.deadline(job)
        return math.inf if deadline is None else deadline

    def vote(self, job: Job) -> int:
        """For a job that has waited too long, nothing otherwise. It is asked again when it has."""
        deadline = self.deadline(job)
        if deadline is None:
            return ABSTAIN
        if self._ssn.now >= deadline:
            return PERMIT
        self._ssn.wake_at(deadline)
        return ABSTAIN
