"""What an eviction action leaves behind when it is done with a job: evictions, and promises that others can see."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.columns.journal import EVICT, PIPELINE
from vcsched.framework.needless import give_back_needless

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.model.job import Job


class Outcome:
    """Keeps or takes back what one action did for job after job; `close` when it is done with all."""

    def __init__(self, ssn: Session, action: str) -> None:
        self._ssn = ssn
        self._action = action
        self._needless: list[Statement] = []
        self._spares = not (ssn.compat.preempt_no_reprieve if action == "preempt" else ssn.compat.evict_unchecked)

    def settle(self, statement: Statement, job: Job) -> bool:
        """Keep what was done for a job if that is now promised all it needs; whether it is.

        A job that needs no eviction is allocate's business. It only holds its room until the action has been
        through, so that nobody builds upon it.
        """
        ssn = self._ssn
        if not statement or not ssn.job_pipelined(job):
            statement.rollback()
            return False
        if self._spares:
            give_back_needless(ssn, statement, self._action)
        if not statement.has_evictions and not ssn.compat.evict_unchecked:
            self._needless.append(statement)
            return True
        self.commit(statement, job)
        return True

    def commit(self, statement: Statement, job: Job) -> None:
        """Commit what was done for a job. Where pods were evicted, all its promises become nominations, also those
        of room that was free: without it the evictions would be in vain."""
        ssn, action = self._ssn, self._action
        if statement.has_evictions and not ssn.compat.evict_unchecked:
            for op in statement.ops:
                if op.kind == PIPELINE:
                    op.after_eviction = op.task.after_eviction = True
        gangs = {op.task.job_key for op in statement.ops if op.kind == EVICT and op.reason != action}
        for _ in gangs:
            ssn.metrics.gang_evicted(action)
        ssn.commit_evictions(statement, action, job)

    def close(self) -> None:
        """Let go of room that was held without an eviction."""
        for statement in self._needless:
            statement.rollback()
