"""overcommit: admit no more gangs than the cluster, a little enlarged, could hold (spec 05 §11.1).

Jobs that are admitted but not yet running hold their whole minimum, even where some of their pods already
run. Admission only; nothing that was admitted is taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.framework.explain import joined, nowhere
from vcsched.framework.notices import Notices
from vcsched.framework.plugin import PERMIT, REJECT, Plugin
from vcsched.model.limits import Excess, excesses, listed, spell

if TYPE_CHECKING:
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session
    from vcsched.model.job import Job

_FACTOR = "overcommit-factor"
_DEFAULT = 1.2
_TEXT = "resource in cluster is overused"


class Overcommit(Plugin):
    name = "overcommit"

    _ssn: Session

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self.factor = args.float(_FACTOR, _DEFAULT)
        if not self.factor >= 1.0:
            self.factor = args.unusable(_FACTOR, self.factor, "at least 1", _DEFAULT)
        self._notices = Notices()

    def open(self, ssn: Session) -> None:
        self._ssn = ssn
        self._notices.begin()
        queues = ssn.queue_table
        self._column = ssn.space.index
        self._used: list[float] = ssn.total_used.tolist()
        self._enlarged: list[float] = (ssn.total * self.factor).tolist()
        self._promised: list[float] = (queues.admitted + queues.running_reserve).sum(axis=1).tolist()
        ssn.job_enqueueable.add(self, self.vote)
        ssn.job_enqueued.add(self, self.admitted)

    def vote(self, job: Job) -> int:
        """Whether the job's minimum fits beside what runs and what was admitted before."""
        if job.min_resources is None:
            return PERMIT
        found = excesses(job.min_resources, self._promised_of, self._idle_of)
        if not found:
            return PERMIT
        self._tell(job, found)
        return REJECT

    def admitted(self, job: Job) -> None:
        """From now on the job's minimum is taken."""
        if job.min_resources is None:
            return
        for name, amount in self._ssn.admission_minimum(job).items():
            self._promised[self._column[name]] += amount

    def _promised_of(self, name: str) -> float:
        column = self._column.get(name)
        return 0.0 if column is None else self._promised[column]

    def _idle_of(self, name: str) -> float:
        column = self._column.get(name)
        return 0.0 if column is None else self._enlarged[column] - self._used[column]

    def _tell(self, job: Job, found: list[Excess]) -> None:
        sentence = nowhere(self._ssn, found) or self._at_its_limit(found)
        self._ssn.refuse(job, "admission", sentence)
        text = listed(_TEXT, "overused", found)
        if self._notices.is_due(job.uid or job.key, text, self._ssn.now):
            self._ssn.event(job, "Normal", "Unschedulable", joined(text, sentence))

    def _at_its_limit(self, found: list[Excess]) -> str:
        """Against the enlarged cluster, with what runs, as people reckon."""
        used = [self._used_of(excess.name) for excess in found]
        whole = [Excess(e.name, e.taken + u, e.limit + u, e.asked) for e, u in zip(found, used, strict=True)]
        return f"cluster at its limit: {spell(whole, 'used or promised', f' (the cluster times {self.factor:g})')}"

    def _used_of(self, name: str) -> float:
        column = self._column.get(name)
        return 0.0 if column is None else self._used[column]
