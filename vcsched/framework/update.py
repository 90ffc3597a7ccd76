"""The close of a session: phases, conditions, events and queue sums of whatever was touched (spec 03 §16).

Only jobs and queues that something happened to are looked at, and only what says something new is
written: an idle session writes nothing.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from vcsched.cache.status_writer import DASH
from vcsched.framework import explain
from vcsched.kube.splice import merged_conditions
from vcsched.model import readiness, resources, texts
from vcsched.model.status import ALLOCATED, FAILED, PENDING, PIPELINED, RUNNING, SUCCEEDED

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.kube.objects.scheduling import PodGroupCondition
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue

log = logging.getLogger(__name__)

REPEAT_S = 300.0
"""A job that keeps waiting is said so again after this time (design-notes §7 row 2)."""

WAITING = ("Unknown", "Pending", "Inqueue")

_PLAIN = ("phase", "running", "succeeded", "failed")  # fields of a PodGroup's status that are no lists
_plain_sent, _plain_shown = itemgetter(*_PLAIN), attrgetter(*_PLAIN)


class Said:
    """What was last said about a job: the reference's text, our stage, and when."""

    __slots__ = ("at", "stage", "text")

    def __init__(self, text: str, stage: str, at: float) -> None:
        self.text = text
        self.stage = stage
        self.at = at


class Reminders:
    """Waiting jobs whose event is to be repeated, in order of time; the interval is the same for all."""

    def __init__(self) -> None:
        self._due: deque[tuple[float, str, Said]] = deque()

    def add(self, job: Job, said: Said) -> None:
        self._due.append((said.at + REPEAT_S, job.key, said))

    def collect(self, ssn: Session) -> None:
        """Touch the jobs whose time has come and about whom nothing newer was said."""
        while self._due and self._due[0][0] <= ssn.now:
            _, key, said = self._due.popleft()
            job = ssn.jobs.get(key)
            if job is not None and job.verdict is said:
                ssn.touched[key] = job


def write_statuses(ssn: Session) -> None:
    """Write what changed about touched jobs and queues."""
    ssn.reminders.collect(ssn)
    for job in list(ssn.touched.values()):
        if job.key not in ssn.world.jobs:
            continue
        try:
            _write_job(ssn, job)
        except Exception:  # a plugin that cannot judge one job must not silence the others
            log.exception("the status of job %s could not be written", job.key)
    _write_queues(ssn)


# ---------------------------------------------------------------- jobs


def _write_job(ssn: Session, job: Job) -> None:
    if job.queue is None:
        why = explain.why(ssn, job) or explain.NOTHING
        if job.obj is not None:
            _say(ssn, job, why.sentence, explain.Why(why.stage))
        _mark_pods(ssn, job, why.sentence, explain.Why(why.stage))
        return
    ssn.valid(job)
    conditions = ssn.conditions.get(job.key, ())
    phase = phase_of(job, _is_stuck(conditions))
    ssn.accounting.set_phase(job, phase)
    why = explain.why(ssn, job) or explain.NOTHING
    written = False
    if job.obj is not None:
        written = _write_status(ssn, job, phase, conditions, why)
    counts = job.counts
    unready = phase in WAITING and not job.is_ready()
    waiting = counts[PENDING] or counts[PIPELINED] or counts[ALLOCATED]
    message = ssn.fit_message(job) if unready or waiting else ""
    if unready:
        _say(ssn, job, texts.gang_message(job.counts[PENDING], job, message), why)
    elif written and phase not in WAITING:
        ssn.event(job, "Normal", "Scheduled", "pod group is ready")
        job.verdict = None
    if waiting:
        _mark_pods(ssn, job, message, why)


def _is_stuck(conditions: Iterable[dict[str, Any]]) -> bool:
    for condition in conditions:  # noqa: SIM110 (asked for every touched job: a loop costs a third of any())
        if condition["type"] == "Unschedulable" and condition["status"] == "True":
            return True
    return False


def phase_of(job: Job, stuck: bool) -> str:
    """The phase of spec 03 §16.1; `stuck`: gang said Unschedulable in this session."""
    if job.counts[RUNNING] > 0 and stuck:
        return "Unknown"
    scheduled = job.already_scheduled
    if scheduled >= job.min_available:
        return "Completed" if scheduled == readiness.completed(job.counts) else "Running"
    return "Inqueue" if job.phase == "Inqueue" else "Pending"


def _write_status(ssn: Session, job: Job, phase: str, new: Any, why: explain.Why) -> bool:
    """Compare with what the API has, or what is on its way there, and write on a difference.

    Conditions of others are sent as they are shown by now: a write on its way may have been made before them.
    """
    assert job.obj is not None
    shown, counts = job.obj.status, job.counts
    said = dict(job.conditions_sent)
    conditions = [_plain(condition) for condition in shown.conditions]
    if said:
        conditions = merged_conditions(conditions, list(said.values()))
    status = {
        "phase": phase,
        "conditions": conditions,
        "running": counts[RUNNING],
        "succeeded": counts[SUCCEEDED],
        "failed": counts[FAILED],
    }
    before = _plain_shown(shown) if job.status_sent is None else _plain_sent(job.status_sent)
    changed = before != _plain_sent(status)
    for condition in new:
        fresh = {**condition, "transitionID": ssn.uid, "lastTransitionTime": _stamp(int(ssn.now))}
        if condition["type"] == "Unschedulable":
            fresh["message"] = explain.joined(condition["message"], why.sentence)
            if job.invalid is not None:
                fresh["reason"] = job.invalid.reason
        for index, known in enumerate(conditions):
            if known["type"] == fresh["type"]:
                if _is_news(known, fresh):
                    conditions[index] = said[fresh["type"]] = fresh
                    changed = True
                break
        else:
            conditions.append(fresh)
            said[fresh["type"]] = fresh
            changed = True
    if not changed:
        return False
    ssn.cache.status_writer.job_status(job, status, said)
    return True


@lru_cache(maxsize=1024)
def _stamp(when_s: int) -> str:
    """A time as Kubernetes writes it."""
    return _written(datetime.fromtimestamp(when_s, UTC))


@lru_cache(maxsize=1024)
def _written(when: datetime) -> str:
    if when.tzinfo is not None:  # any; equal times are one here, whatever their zones
        when = when.astimezone(UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _plain(condition: PodGroupCondition) -> dict[str, Any]:
    """A condition as it stands, to be sent again."""
    when = condition.last_transition_time
    plain = {
        "type": condition.type,
        "status": condition.status,
        "transitionID": condition.transition_id,
        "reason": condition.reason,
        "message": condition.message,
    }
    if when is not None:
        plain["lastTransitionTime"] = _written(when)
    return plain


def _is_news(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Whether a condition says something new; the numbers in our sentence alone are no news."""
    old_text, new_text = old["message"].partition(DASH)[0], new["message"].partition(DASH)[0]
    return (old["status"], old["reason"], old_text) != (new["status"], new["reason"], new_text)


def _say(ssn: Session, job: Job, text: str, why: explain.Why) -> None:
    """The Unschedulable event, when it is new or was said long ago."""
    said: Said | None = job.verdict
    if said is not None and (said.text, said.stage) == (text, why.stage) and ssn.now - said.at < REPEAT_S:
        return
    job.verdict = Said(text, why.stage, ssn.now)
    ssn.reminders.add(job, job.verdict)
    ssn.event(job, "Warning", "Unschedulable", explain.joined(text, why.sentence))


def _mark_pods(ssn: Session, job: Job, job_message: str, why: explain.Why) -> None:
    """Say on each waiting pod why it waits. Gated pods keep the API server's own condition."""
    mark = ssn.cache.status_writer.mark
    for status in (ALLOCATED, PENDING, PIPELINED):
        if not job.counts[status]:
            continue
        tasks = job.pending.values() if status == PENDING else [t for t in job.tasks.values() if t.status == status]
        for task in tasks:
            if task.gated:
                continue
            reason, message, nominated = texts.task_reason(task, job)
            if message:
                mark(task, reason, message, nominated)
            else:
                mark(task, reason, job_message or texts.ALL_UNAVAILABLE, nominated, why)


# ---------------------------------------------------------------- queues


def _write_queues(ssn: Session) -> None:
    """status.allocated of touched queues and their ancestors (spec 03 §16.5)."""
    touched = ssn.world.touched_queues
    if not touched:
        return
    queues = ssn.queues
    children: dict[str, list[Queue]] = {}
    for queue in queues.values():
        children.setdefault(_parent(queue), []).append(queue)
    affected: dict[str, Queue] = {}
    for queue in touched.values():
        at: Queue | None = queue
        while at is not None and at.name not in affected:
            affected[at.name] = at
            at = queues.get(_parent(at)) if "root" in queues else None
    for queue in affected.values():
        if queue.name in queues:
            _write_queue(ssn, queue, children if "root" in queues else {})


def _parent(queue: Queue) -> str:
    return "" if queue.name == "root" else queue.obj.spec.parent or "root"


def _write_queue(ssn: Session, queue: Queue, children: dict[str, list[Queue]]) -> None:
    total = ssn.queue_table.alloc[:, queue.row].copy()
    seen, below = {queue.name}, list(children.get(queue.name, ()))
    while below:
        child = below.pop()
        if child.name not in seen:
            seen.add(child.name)
            total += ssn.queue_table.alloc[:, child.row]
            below.extend(children.get(child.name, ()))
    held = {name: float(total[column]) for column, name in enumerate(ssn.space.names) if total[column]}
    shown = queue.obj.status.allocated
    if _same(shown, held):
        return
    ssn.cache.status_writer.queue_status(queue, resources.quantities(held))


def _same(shown: Any, held: dict[str, float]) -> bool:
    """Quantity by quantity; a missing list is an empty one, and a 0 is no difference."""
    try:
        known = resources.amounts(shown or {})
    except ValueError:
        return False
    return {k: v for k, v in known.items() if v} == held
