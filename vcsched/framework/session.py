"""A session: one pass of the actions over the picture, with the plugins' functions registered.

Opening costs what the plugins' `open` costs, closing what changed: nothing here loops over the cluster.
While a session runs nothing from outside comes in, which is all the snapshot there is (DESIGN 1.1).
"""

from __future__ import annotations

import logging
import math
import random
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from vcsched.cache.references import reference_of
from vcsched.columns import journal
from vcsched.columns.journal import COMMITTED, OPEN, PIPELINE, UNDONE, Ledger, Op
from vcsched.framework import orders, update
from vcsched.framework.certificate import RETRY_S, Certificate
from vcsched.framework.plugin import Plugin
from vcsched.framework.points import Opening, Points
from vcsched.framework.statement import Statement, settle, undo
from vcsched.kube.keys import QUEUE_ALLOCATION_GATE
from vcsched.kube.link import Event
from vcsched.model import resources, texts
from vcsched.model.hypernode import ROOT
from vcsched.model.reserve import ungate
from vcsched.model.status import ALLOCATED, PIPELINED

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.columns.table import FloatArray, IntArray
    from vcsched.framework.compat import Compatibility
    from vcsched.framework.conf import Configuration
    from vcsched.framework.fits import FitRecord
    from vcsched.framework.metrics import Metrics
    from vcsched.framework.pipeline import Pipeline
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.subjob import SubJob
    from vcsched.model.task import Task

log = logging.getLogger(__name__)


class Ledgers:
    """Plugin state that takes part in statements, in the order of registration."""

    def __init__(self) -> None:
        self.active: list[Ledger] = []

    def add(self, plugin: Plugin, ledger: Ledger) -> None:
        """Let a ledger see every operation of this session."""
        self.active.append(ledger)


class Session(Points):
    """All extension points, and what actions and plugins may read and do."""

    def __init__(
        self,
        cache: SchedulerCache,
        configuration: Configuration,
        plugins: list[tuple[Opening, Plugin]],
        pipeline: Pipeline,
        metrics: Metrics,
        rng: random.Random,
        reminders: update.Reminders,
    ) -> None:
        compat: Compatibility = configuration.compatibility
        protective = frozenset({"priority", "conformance"}) if compat.victim_veto == "protective" else frozenset()
        super().__init__(victim_restart=compat.victim_restart, final_vetoes=protective)
        self.cache = cache
        self.configuration = configuration
        self.compat = compat
        self.metrics = metrics
        self.rng = rng
        self.pipeline = pipeline
        self.uid = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        self.now = cache.clock()

        picture = self.world = cache.picture
        self.accounting = cache.accounting
        self.jobs = picture.attached
        self.queues = picture.queues
        self.nodes = picture.nodes_by_name
        self.space = picture.space
        self.node_table, self.job_table, self.queue_table = (
            picture.nodes,
            picture.job_table,
            picture.queue_table,
        )
        self.touched = picture.touched
        self.total: FloatArray = np.zeros(0)
        self.total_used: FloatArray = np.zeros(0)

        self.ledgers = Ledgers()
        self.journal: list[Op] = []
        self.conditions: dict[str, list[dict[str, Any]]] = {}
        self.placed: dict[str, Job] = {}
        self.assumed: dict[float, int] = {}  # when pods were created that are bound now
        self.domain_decisions: dict[str, tuple[str, dict[str, str]]] = {}
        self.wake: float | None = None
        self.reminders = reminders
        self._plugins = plugins

    # ------------------------------------------------------------------ life

    def open(self) -> None:
        """Open the plugins in tier order. A plugin that fails is left out of this session, with a message."""
        start = time.perf_counter()
        self.cache.begin_session()
        self.total = self.world.total("alloc")
        self.total_used = self.world.total("used")
        for opening, plugin in self._plugins:
            began = time.perf_counter()
            self.registry.opening = opening
            try:
                plugin.open(self)
            except (Exception, SystemExit):
                log.exception("plugin %s could not be opened; it takes no part in this session", opening.plugin)
            self.metrics.observe_plugin(opening.plugin, "OnSessionOpen", time.perf_counter() - began)
        self.registry.opening = None
        self.pipeline.begin(self)
        self.metrics.observe_open(time.perf_counter() - start)

    def close(self) -> None:
        """Plugins close in reverse order, statuses are written, leftovers are taken back."""
        for opening, plugin in reversed(self._plugins):
            began = time.perf_counter()
            try:
                plugin.close(self)
            except (Exception, SystemExit):
                log.exception("plugin %s failed at the session's close", opening.plugin)
            self.metrics.observe_plugin(opening.plugin, "OnSessionClose", time.perf_counter() - began)
        try:
            update.write_statuses(self)
            self.metrics.observe_tasks("Assumed", self.assumed, self.now)
            for job in self.placed.values():
                self.metrics.jobs.placed(job.namespace, job.name, job.queue_name, job.created, self.now)
            self.metrics.jobs.waited(Counter([job.created for job in self.placed.values()]), self.now)
        finally:
            settle(self)  # whatever happened, nothing tentative outlives the session
            self.touched.clear()
            self.world.touched_queues.clear()
            self.cache.flush()

    # ------------------------------------------------------------------ for actions

    def admit(self, job: Job) -> None:
        """A job passes admission: its reservation is announced, its phase is Inqueue."""
        self.job_enqueued(job)
        job.refusal = None
        self.accounting.set_phase(job, "Inqueue")

    def block(self, job: Job, action: str) -> None:
        """The action has nothing for the job, and will have nothing while the picture stands still."""
        chance = action == "allocate" and len({task.form for task in job.pending.values()}) > 1
        until = self.now + RETRY_S if chance else math.inf
        job.blocked = Certificate(action, self.world.changes, self.pipeline, until)

    def commit_evictions(self, statement: Statement, action: str, job: Job) -> None:
        """Commit what an eviction action did for a job."""
        if statement.has_evictions:
            self.metrics.eviction_committed(action)
        statement.beneficiary = job.key
        statement.commit()

    def is_held(self, task: Task) -> bool:
        """Whether gates other than the queue's own hold a task back (spec 04 §2.8)."""
        return task.gated and task.gates != (QUEUE_ALLOCATION_GATE,)

    def open_queue_gate(self, task: Task) -> None:
        """The queue lets a task in that carries the queue's gate; taking gates off is a later feature gate's
        business, so the task waits and says so."""
        if task.job is not None:
            self.refuse(task.job, "gated", f"pod {task.key} carries the gate {QUEUE_ALLOCATION_GATE}")

    def note_share_refusal(self, job: Job, task: Task) -> None:
        """The queue's share does not cover a task; the first one names the numbers."""
        if job.refusal is None and job.queue is not None:
            sentence = self.allocatable.why(job.queue, task)
            self.refuse(
                job, "queue limit", sentence or f"queue {job.queue.name} has no room: {self.usage(job.queue, task)}"
            )

    def usage(self, queue: Queue, task: Task | None = None) -> str:
        """What a queue uses, in numbers a person can check."""
        held = self.queue_table.amounts_of("charged", queue.row)
        asked = task.request.by_name if task is not None else {}
        names = resources.in_order(n for n in {**held, **asked} if n != "pods") or ["cpu"]
        parts = []
        for name in names:
            text = f"{name} {resources.human(name, held.get(name, 0.0))} used"
            if asked.get(name):
                text += f", {resources.human(name, asked[name])} asked"
            parts.append(text)
        return " · ".join(parts)

    def readiness_of(self, job: Job, sub: SubJob) -> Callable[[], bool]:
        """Asks whether a sub-job is ready, after every placement; a job without sub-groups answers for its one."""
        return partial(self.sub_job_ready, sub) if job.policies else partial(self.job_ready, job)

    def is_sub_job_pipelined(self, job: Job, sub: SubJob) -> bool:
        return self.sub_job_pipelined(sub) if job.policies else self.job_pipelined(job)

    def gradients_for_job(self, job: Job) -> list[list[str]]:
        """Names of hypernodes to try a job in, in order of preference; inner lists are equals."""
        return self.gradient_for_job(job, ROOT, "allocate") if self.gradient_for_job else [[ROOT]]

    def gradients_for_sub_job(self, sub: SubJob, hypernode: str) -> list[list[str]]:
        """The same for a sub-job inside a hypernode."""
        return self.gradient_for_sub_job(sub, hypernode, "allocate") if self.gradient_for_sub_job else [[hypernode]]

    def rows_of(self, hypernode: str) -> IntArray | None:
        """The node rows of a hypernode; None is all nodes, which is what the root contains."""
        return None

    def hyper_node_scores(self, sub: SubJob, names: list[str]) -> dict[str, float]:
        """Scores of hypernodes for a sub-job, summed over plugins; a plugin that says nothing adds nothing."""
        scores = dict.fromkeys(names, 0.0)
        for given in self.hyper_node_order(sub, names):
            for name in names:
                scores[name] += given.get(name, 0.0)
        return scores

    def observe_placed(self, job: Job) -> None:
        """A task of the job was given a node: the job latency metrics are taken at the session's close."""
        self.placed[job.key] = job

    def dispatch_allocated(self, job: Job) -> None:
        """Bind every task of a ready job that was placed earlier in this session (spec 03 §12.5)."""
        if not job.counts[ALLOCATED]:
            return
        bound = []
        for op in self.journal:
            if op.task.job is job and op.state == OPEN and op.kind == journal.ALLOCATE:
                op.state = COMMITTED
                op.task.attempt = None
                self.bind(op.task)
                bound.append(op.task)
        self.committed(bound)

    def reopen_best_effort(self) -> dict[str, Job]:
        """Best-effort tasks that an earlier action promised room become pending again (spec 04 §5.1)."""
        reopened: dict[str, Job] = {}
        for op in self.journal:
            task = op.task
            if op.kind == PIPELINE and op.state != UNDONE and task.best_effort and task.status == PIPELINED:
                undo(self, op)
                if task.job is not None:
                    reopened[task.job.key] = task.job
        return reopened

    def statement(self) -> Statement:
        return Statement(self)

    def argument(self, action: str) -> Any:
        """The arguments of an action, fresh at each load."""
        return self.configuration.arguments_of(action)

    def is_action_enabled(self, name: str) -> bool:
        return name in self.configuration.actions

    def valid(self, job: Job) -> bool:
        """Whether a job may take part; the verdict is kept with the job for reasons."""
        job.invalid = self.job_valid(job)
        return job.invalid is None

    def queue_less(self, a: Queue, b: Queue) -> bool:
        return orders.queue_less(self, a, b)

    def job_less(self, a: Job, b: Job) -> bool:
        return orders.job_less(self, a, b)

    def record(self, task: Task, fit: FitRecord) -> None:
        """Remember why a task was not placed in this session."""
        job = task.job
        if job is not None:
            job.fit_errors[task.uid] = fit
            self.touched[job.key] = job

    def refuse(self, job: Job, stage: str, sentence: str) -> None:
        """Remember the one reason why a job is held back before any node is looked at."""
        job.refusal = (stage, sentence)
        self.touched[job.key] = job

    def bind(self, task: Task) -> None:
        """Bind an allocated task. What a plugin cannot add to the bind is left out: a gang is bound whole."""
        assert task.node is not None
        self.cache.binder.bind(task, task.node, self._annotations(task) if self.binding.registered else None)

    def _annotations(self, task: Task) -> dict[str, str] | None:
        annotations: dict[str, str] | None = None
        for entry in self.binding.registered:
            try:
                given = entry.function(task)
            except (Exception, SystemExit):
                log.exception("plugin %s could not add to the bind of pod %s", entry.plugin, task.key)
                continue
            if given:
                annotations = {**(annotations or {}), **given}
        return annotations

    def committed(self, bound: Iterable[Task] = ()) -> None:
        """Something went out; what failed before may succeed now."""
        self.world.changes += 1
        assumed = self.assumed
        for task in bound:
            assumed[task.created] = assumed.get(task.created, 0) + 1

    # ------------------------------------------------------------------ for plugins

    def admission_minimum(self, job: Job) -> Mapping[str, float]:
        """What an admitted job has a claim on: its minimum without what its gated pods ask (spec 05 §1.2)."""
        minimum = job.min_resources or {}
        return ungate(minimum, self.job_table.amounts_of("gated", job.row)) if job.gated_count else minimum

    def set_condition(self, job: Job, kind: str, status: str, reason: str, message: str) -> None:
        """A PodGroup condition of this session; written only if it says something new."""
        self.conditions.setdefault(job.key, []).append(
            {"type": kind, "status": status, "reason": reason, "message": message}
        )

    def fit_message(self, job: Job) -> str:
        """The job fit message of spec 01 §3.9."""
        return texts.job_fit_message(job)

    def event(self, job: Job, kind: str, reason: str, message: str) -> None:
        """Record an event on the PodGroup (on a pod, where the group is kept in the cache only)."""
        self.cache.send(Event(about=reference_of(job), type=kind, reason=reason, message=message))

    def wake_at(self, when: float) -> None:
        """Something will change by the clock at this unix time: jobs are looked at again then."""
        self.wake = when if self.wake is None else min(self.wake, when)
