"""The topology path of allocate: trials of domains for the job, within them for sub-jobs (spec 04 §4.5)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.choices import best
from tests.oracle.hypernodes import ROOT
from tests.oracle.job import Job, SubJob
from tests.oracle.session import Session
from tests.oracle.statement import Operation, Statement

from .placement import place_run
from .worklist import WorkList


@dataclass
class Trial:
    """What one domain would give: its score, what to replay, what is left, where each sub-job went."""

    domain: str
    score: float
    plan: list[Operation]
    work: WorkList
    decisions: dict[str, str] = field(default_factory=dict)


@dataclass
class Solution:
    """The chosen trial, replayed."""

    statement: Statement
    domain: str
    decisions: dict[str, str]


def allocate_in_domains(session: Session, job: Job, work: WorkList) -> Solution | None:
    """The best domain of the first gradient group in which any domain works."""
    for group in session.topology.gradient(job, ROOT, "allocate"):
        trials = {}
        for domain in group:
            trial = try_domain(session, job, work, domain)
            if trial is not None:
                trials[domain] = trial
        if trials:
            names = best({name: trial.score for name, trial in trials.items()})
            chosen = trials[session.choices.one(names)]
            statement = Statement(session)
            statement.replay(chosen.plan)
            work.adopt(chosen.work)
            return Solution(statement, chosen.domain, chosen.decisions)
    return None


def try_domain(session: Session, job: Job, work: WorkList, domain: str) -> Trial | None:
    """Place the sub-jobs in a domain, one after another, and take everything back."""
    before = {uid: sub_job.allocated_hyper_node for uid, sub_job in job.sub_jobs.items()}
    job.fit_errors.clear()
    trial = Trial(domain, 0.0, [], work.clone())
    placed = Statement(session)
    while trial.work.sub_jobs:
        sub_job = trial.work.sub_jobs.pop()
        statement = place_sub_job(session, job, sub_job, trial)
        if statement is None:
            continue
        placed.absorb(statement)
        if trial.work.tasks[sub_job.uid]:
            trial.work.sub_jobs.push(sub_job)
        if session.is_ready(job):
            break
    for uid, hyper_node in before.items():
        job.sub_jobs[uid].allocated_hyper_node = hyper_node
    works = bool(placed.operations) and (session.is_ready(job) or session.is_pipelined(job))
    trial.plan = placed.plan()
    placed.discard()
    return trial if works else None


def place_sub_job(session: Session, job: Job, sub_job: SubJob, trial: Trial) -> Statement | None:
    """Place a sub-job in its best HyperNode below the trial's domain; None if none works."""
    if not trial.work.tasks.get(sub_job.uid):
        return None
    topology = session.topology
    for group in topology.gradient(sub_job, trial.domain, "allocate"):
        found = {}
        for name in group:
            for task in sub_job.tasks:
                job.fit_errors.pop(task.uid, None)
            tasks = trial.work.tasks[sub_job.uid].clone()
            statement = place_run(session, job, sub_job, tasks, topology.table[name].nodes)
            if statement is not None:
                if statement.operations:
                    found[name] = (statement.plan(), tasks)
                statement.discard()
        if found:
            scores = hyper_node_scores(session, sub_job, list(found))
            name = session.choices.one(best(scores))
            plan, tasks = found[name]
            statement = Statement(session)
            statement.replay(plan)
            sub_job.allocated_hyper_node = topology.common_ancestor(sub_job.allocated_hyper_node, name)
            trial.work.tasks[sub_job.uid] = tasks
            trial.decisions[sub_job.uid] = topology.common_ancestor(trial.decisions.get(sub_job.uid, ""), name)
            trial.score += scores[name]
            return statement
    return None


def hyper_node_scores(session: Session, sub_job: SubJob, names: list[str]) -> dict[str, float]:
    """Sum of the plugins' HyperNode scores (spec 03 §10)."""
    totals = dict.fromkeys(names, 0.0)
    for function in session.functions("hyper_node_order"):
        for name, score in function(sub_job, names).items():
            totals[name] += score
    return totals


def decide(session: Session, job: Job, solution: Solution) -> None:
    """Remember the HyperNodes of a committed solution (spec 07 §4.5)."""
    topology = session.topology
    job.allocated_hyper_node = topology.common_ancestor(job.allocated_hyper_node, solution.domain)
    for uid, name in solution.decisions.items():
        sub_job = job.sub_jobs[uid]
        sub_job.allocated_hyper_node = topology.common_ancestor(sub_job.allocated_hyper_node, name)
