"""Trials over domains: a job with sub-groups is tried in one hypernode after the other (spec 04 §4.5).

Every trial is made for real and taken back as a plan; the best plan is played again and kept. Sub-jobs
placed one after another stand until the job is ready or promised room, else all of them go. Gradients come
from the plugins; without one the only domain is the root.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from vcsched.columns.live import LiveQueue
from vcsched.framework import orders
from vcsched.model.hypernode import ROOT, common_ancestor

if TYPE_CHECKING:
    from vcsched.framework.placement import PlacementRun
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Plan, Statement
    from vcsched.model.job import Job
    from vcsched.model.subjob import SubJob
    from vcsched.model.task import Task

Work = dict[str, "deque[Task]"]
"""Sub-job key -> its tasks still to be placed, in order."""


class Solution(NamedTuple):
    """A domain in which a trial succeeded."""

    hypernode: str
    score: float
    plan: Plan
    left: Work
    decided: dict[str, str]  # sub-job key -> its hypernode


class DomainTrials:
    """Places jobs with sub-groups; `placement` places the tasks of one sub-job on the nodes of one domain."""

    def __init__(self, ssn: Session, placement: PlacementRun) -> None:
        self._ssn = ssn
        self._placement = placement
        self._required_of: dict[str, dict[str, int]] = {}  # job -> sub-jobs that go first

    def run(self, job: Job, work: Work) -> Statement | None:
        """Place a job. Tasks that were placed, or whose sub-job failed, are taken out of `work`."""
        ssn = self._ssn
        required = self._required_of.get(job.key)
        if required is None:  # once a session, whatever its turns have changed (spec 04 §4.1 rule 8)
            required = self._required_of[job.key] = self._required(job)
        for gradient in ssn.gradients_for_job(job):
            solutions = [s for name in gradient if (s := self._try(job, name, work, required)) is not None]
            if not solutions:
                continue
            best = max(s.score for s in solutions)
            chosen = ssn.rng.choice([s for s in solutions if s.score == best])
            statement = ssn.statement()
            if statement.replay(chosen.plan):
                return None
            work.clear()
            work.update(chosen.left)
            self._decide(job, chosen)
            return statement
        return None

    # ------------------------------------------------------------------ one domain for the job

    def _try(self, job: Job, hypernode: str, work: Work, required: dict[str, int]) -> Solution | None:
        ssn = self._ssn
        job.fit_errors = {}
        held = {key: sub.allocated_hypernode for key, sub in job.subjobs.items()}
        left = {key: deque(tasks) for key, tasks in work.items()}
        waiting = LiveQueue(lambda a, b: self._less(a, b, required), (job.subjobs[key] for key in left))
        statement = ssn.statement()
        score, decided = 0.0, {}
        while waiting:
            sub = waiting.pop()
            step = self._try_sub_job(job, sub, hypernode, left[sub.key])
            if step is None:
                del left[sub.key]
                continue
            part, value, chosen = step
            statement.absorb(part)
            score += value
            decided[sub.key] = chosen
            if left[sub.key]:
                waiting.push(sub)
            else:
                del left[sub.key]
            if ssn.job_ready(job):
                break
        for key, name in held.items():
            job.subjobs[key].allocated_hypernode = name
        if statement and (ssn.job_ready(job) or ssn.job_pipelined(job)):
            return Solution(hypernode, score, statement.plan(), left, decided)
        statement.rollback()
        return None

    def _less(self, a: SubJob, b: SubJob, required: dict[str, int]) -> bool:
        if (a.key in required) != (b.key in required):
            return a.key in required
        return orders.sub_job_less(self._ssn, a, b)

    def _required(self, job: Job) -> dict[str, int]:
        """Sub-jobs needed to reach the minimum number of sub-groups; they go first (spec 04 §4.1 rule 8)."""
        minimums = job.group_minimums()
        count = dict.fromkeys(minimums, 0)
        unready: LiveQueue[SubJob] = LiveQueue(lambda a, b: orders.sub_job_less(self._ssn, a, b))
        for sub in job.subjobs.values():
            if self._ssn.readiness_of(job, sub)():
                if sub.policy in count:
                    count[sub.policy] += 1
            else:
                unready.push(sub)
        required: dict[str, int] = {}
        while unready:
            sub = unready.pop()
            if sub.policy in count and count[sub.policy] < minimums[sub.policy]:
                count[sub.policy] += 1
                required[sub.key] = len(required)
        return required

    # ------------------------------------------------------------------ one sub-job inside a domain

    def _try_sub_job(
        self, job: Job, sub: SubJob, hypernode: str, tasks: deque[Task]
    ) -> tuple[Statement, float, str] | None:
        """(statement, score, hypernode) of the best domain for a sub-job; its tasks are taken out of `tasks`."""
        ssn = self._ssn
        for gradient in ssn.gradients_for_sub_job(sub, hypernode):
            found: dict[str, tuple[Plan, deque[Task]]] = {}
            for name in gradient:
                for uid in sub.tasks:
                    job.fit_errors.pop(uid, None)
                self._placement.forget(sub)
                left = deque(tasks)
                statement = self._placement.run(job, sub, left, ssn.rows_of(name), "" if name == ROOT else name)
                if statement is not None and statement:
                    found[name] = (statement.plan(), left)
            if not found:
                continue
            scores = ssn.hyper_node_scores(sub, list(found))
            best = max(scores.values())
            name = ssn.rng.choice([name for name, score in scores.items() if score == best])
            plan, left = found[name]
            statement = ssn.statement()
            if statement.replay(plan):
                return None
            tasks.clear()
            tasks.extend(left)
            sub.allocated_hypernode = common_ancestor(sub.allocated_hypernode, name)
            return statement, scores[name], name
        return None

    # ------------------------------------------------------------------ the decision

    def _decide(self, job: Job, chosen: Solution) -> None:
        """Remember where the job and its sub-jobs would live; `keep` makes it so."""
        self._ssn.domain_decisions[job.key] = (chosen.hypernode, chosen.decided)

    def keep(self, job: Job) -> None:
        """The job was committed: it lives in the hypernodes decided."""
        decision = self._ssn.domain_decisions.pop(job.key, None)
        if decision is None:
            return
        hypernode, decided = decision
        job.allocated_hypernode = common_ancestor(job.allocated_hypernode, hypernode)
        for key, name in decided.items():
            sub = job.subjobs.get(key)
            if sub is not None:
                sub.allocated_hypernode = common_ancestor(sub.allocated_hypernode, name)
                sub.nominated_hypernode = ""
