"""Why a job waits: one reason at a time, the first obstacle in order, with the thing to change (ux.md).

    object invalid → gated → queue missing or closed → queue limit → admission → gang incomplete
    → does not fit → waits for room being freed

The reference's text goes first where tools match on it, then a dash, then our sentence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from vcsched.cache.nominations import promised_node
from vcsched.cache.status_writer import DASH
from vcsched.kube.keys import GROUP_NAME
from vcsched.model import readiness
from vcsched.model.status import ALLOCATED, PENDING, PIPELINED, RELEASING

if TYPE_CHECKING:
    from vcsched.framework.scheduler import Scheduler
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.limits import Excess
    from vcsched.model.node import Node


class Why(NamedTuple):
    """The first obstacle: a short stage name and the sentence; both empty where nothing holds a job back."""

    stage: str = ""
    sentence: str = ""


NOTHING = Why()


def joined(text: str, sentence: str) -> str:
    """The reference's text, then our sentence."""
    return f"{text}{DASH}{sentence}" if sentence else text


def nowhere(ssn: Session, found: Iterable[Excess]) -> str:
    """The sentence about resources that are asked for and that no node offers, so that no queue could give them;
    "" where all are there somewhere."""
    index, total = ssn.space.index, ssn.total
    names = [excess.name for excess in found if excess.name not in index or not total[index[excess.name]]]
    if not names:
        return ""
    if not ssn.nodes:
        return "there is no node"
    return f"no node offers {', '.join(names)}; add one that does"


def why(ssn: Session | Scheduler, job: Job) -> Why | None:
    """The first obstacle of a job that is not ready, or None; between sessions, as the last one left it."""
    refused = ssn.cache.refused.get(("PodGroup", job.key))
    if refused is not None:
        return Why("invalid", refused)
    if job.obj is None and not job.bare:
        return Why("no PodGroup", f"PodGroup {job.key} does not exist; create it, or take {GROUP_NAME} off the pods")
    if job.queue is None:
        return Why("queue", f"queue {job.queue_name} does not exist; create it or change spec.queue")
    if job.is_ready() and not job.pending:
        return None
    if job.gated_count and job.gated_count == len(job.pending):
        for task in job.pending.values():
            if (flaw := ssn.cache.refused.get(("Pod", task.key))) is not None:
                return Why("invalid", f"pod {task.key}: {flaw}")
        return Why("gated", f"all {job.gated_count} pending pods carry scheduling gates; remove the gates to go on")
    free = readiness.valid(job.counts) - job.gated_count
    if job.gated_count and free < job.min_available <= readiness.valid(job.counts):
        gated = f"{job.gated_count} of {len(job.tasks)} pods carry scheduling gates"
        return Why("gated", f"{gated}, {free} of the {job.min_available} needed do not; remove the gates to go on")
    if not job.queue.is_open(ssn.compat.stateless_queue_closed):
        state = job.queue.obj.status.state
        return Why("queue closed", f"queue {job.queue.name} is {state or 'without a state'}; open it")
    if (promised := _promised(ssn, job)) is not None:
        return promised
    if job.refusal is not None and (job.pending_phase or not job.fit_errors):
        return Why(*job.refusal)
    have = readiness.valid(job.counts)
    if job.invalid is not None or have < job.min_available:
        return _incomplete(job, have)
    if job.fit_errors:
        return _does_not_fit(job)
    return None


def _promised(ssn: Session | Scheduler, job: Job) -> Why | None:
    """All that the gang lacks is promised, and waits for pods to leave: in a session by its statements, between
    sessions by nominations."""
    nodes: list[Node] = []
    for task in job.tasks.values():
        node = task.node if task.status == PIPELINED else None
        if task.status == PENDING and (name := promised_node(task)):
            node = ssn.cache.picture.nodes_by_name.get(name)
            node = node if node is not None and _leaving(node) else None
        if node is not None:
            nodes.append(node)
    missing = job.min_available - readiness.counted(job.counts)
    if not nodes or len(nodes) < missing:
        return None
    leaving = sum(_leaving(node) for node in {node.name: node for node in nodes}.values())
    promised = len(nodes) + job.counts[ALLOCATED]
    text = f"room for {promised} of {max(promised, job.min_available)} is promised"
    return Why("waits", f"{text}; pods that still leave there: {leaving}" if leaving else text)


def _leaving(node: Node) -> int:
    return sum(task.status == RELEASING for task in node.tasks.values())


def _incomplete(job: Job, have: int) -> Why:
    """The gang lacks pods: of all, of a role, or of a sub-group."""
    if have < job.min_available:
        return Why("gang incomplete", f"{have} of {job.min_available} pods of the gang exist; create the others")
    for role, minimum in job.role_minimum.items():
        there = readiness.valid(job.role_counts[role]) if role in job.role_counts else 0
        if there < minimum:
            return Why("gang incomplete", f"{there} of {minimum} pods of role {role} exist; create the others")
    message = job.invalid.message if job.invalid is not None else "not enough pods"
    return Why("gang incomplete", message)


def _does_not_fit(job: Job) -> Why:
    """Room for some of the gang: how many, and what stands against the rest."""
    tried = [job.tasks[uid] for uid in job.fit_errors if uid in job.tasks]
    placed = readiness.ready(job.counts) + sum(1 for t in job.pending.values() if t.attempt is not None)
    first = min(tried, key=lambda task: (task.namespace, task.name, task.uid)) if tried else None
    fit = job.fit_errors[first.uid] if first is not None else None
    needed = max(job.min_available, 1)
    text = f"does not fit: room for {placed} of {needed}"
    if fit is not None and fit.counts:
        parts = sorted(fit.counts.items(), key=lambda item: (-item[1], item[0]))
        listed = " · ".join(f"{count:,} {reason}" for reason, count in parts)
        text += f" on {fit.n:,} nodes: {listed}"
    elif fit is not None and fit.n == 0:
        text += "; there is no node" if not fit.base else f"; {fit.base}"
    return Why("does not fit", text)
