"""The product's side of a case, over its whole path.

Objects → JSON bytes → decode → link → cache → session with exactly the given tiers → actions → writes taken
off the link. Only what is not written (task statuses, pipelined tasks, probes) is read from the open session.
"""

from __future__ import annotations

import collections
import functools
import json
import traceback
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import numpy as np

from vcsched.cache.cache import SchedulerCache
from vcsched.cache.options import CacheOptions
from vcsched.cache.verify import verify
from vcsched.framework import update
from vcsched.framework.conf import Configuration, parse
from vcsched.framework.explain import why
from vcsched.framework.metrics import Metrics
from vcsched.framework.registry import Registry
from vcsched.framework.scheduler import Scheduler
from vcsched.framework.session import Session
from vcsched.kube.link import Bind, Deleted, Evict, Outbound, Upsert
from vcsched.kube.objects import KINDS, decode
from vcsched.model.status import ALLOCATED, CODE_NAMES, NAMES, PENDING, PIPELINED

from .hypernodes import binds_per_hyper_node
from .loader import Case
from .outcome import Outcome, binds_per_job

KIND_OF = {resource.kind: kind for kind, resource in KINDS.items()}
NOON = "2025-03-01T12:00:00Z"  # the clock of a case that does not depend on it
EPSILON = 0.1
REGISTRY, METRICS = Registry(), Metrics()  # made once: both cost more than a session

Object = dict[str, Any]


def run(case: Case, *, profile: str, switches: Mapping[str, Any] | None = None, seed: int = 0) -> Outcome:
    """What the product does on a case, under a compatibility profile and switches by key.

    An exception of the product is an outcome too, so that the case that raised it is reported like any other.
    """
    try:
        world = InMemory(case, profile=profile, switches=switches, seed=seed)
        world.upsert(case.objects)
        outcome = Outcome()
        for _ in range(case.sessions):
            outcome = world.session(probe=bool(case.data.get("probe")))
    except Exception:
        return Outcome(error=traceback.format_exc())
    return outcome


def configuration(case: Case, profile: str, switches: Mapping[str, Any] | None = None) -> Configuration:
    """The case's tiers, actions and arguments as a configuration."""
    content = {
        "actions": ", ".join(case.actions),
        "tiers": [part for tier in case.tiers for part in _acceptable(tier)],
        "configurations": case.data.get("configurations") or [],
        "compatibility": {"profile": profile, **(switches or {})},
    }
    return _parsed(json.dumps(content))


def _acceptable(tier: Object) -> list[Object]:
    """A tier with proportion and a hierarchical drf is refused (spec 05 §2), but two unit cases have one: there
    proportion goes into a tier of its own, which changes nothing but the votes."""
    plugins = tier["plugins"]
    if not any(p["name"] == "drf" and p.get("enableHierarchy") for p in plugins):
        return [tier]
    others = [p for p in plugins if p["name"] != "proportion"]
    alone = [p for p in plugins if p["name"] == "proportion"]
    return [{"plugins": others}, {"plugins": alone}] if alone else [tier]


@functools.cache
def _parsed(text: str) -> Configuration:
    """Parsing costs more than a session, and few configurations serve many cases."""
    return parse(text)


class InMemory:
    """A cache and a scheduler without threads or sockets; what is written is collected."""

    def __init__(self, case: Case, *, profile: str, switches: Mapping[str, Any] | None = None, seed: int = 0) -> None:
        self.case = case
        self.now = datetime.fromisoformat(case.data.get("now", NOON).replace("Z", "+00:00")).timestamp()
        options = CacheOptions(scheduler_names=(case.data["scheduler"],))
        self.cache = SchedulerCache(options=options, clock=lambda: self.now)
        self.scheduler = Scheduler(
            self.cache, configuration(case, profile, switches), registry=REGISTRY, metrics=METRICS, seed=seed
        )
        self.objects: dict[str, Object] = {}  # as they are at the API server
        self.writes: list[Outbound] = []

    def upsert(self, objects: Iterable[Object]) -> None:
        """Objects arrive, new or changed, in this order."""
        for obj in objects:
            self.objects[key_of(obj)] = obj
            self.cache.link.put(Upsert(decode(KIND_OF[obj["kind"]], json.dumps(obj).encode())))
        self.cache.drain()

    def delete(self, objects: Iterable[Object]) -> None:
        for obj in objects:
            kind, _, key = key_of(obj).partition(" ")
            del self.objects[key_of(obj)]
            self.cache.link.put(Deleted(KIND_OF[kind], key, obj["metadata"].get("uid", "")))
        self.cache.drain()

    def session(self, *, probe: bool = False) -> Outcome:
        """One session; a fault in an action is raised, and the invariants are checked after it."""
        outcome = Outcome()
        if probe:
            trial = self.scheduler.open_session()
            outcome.scores, outcome.unfit = probe_nodes(trial)
            trial.close()
            self.cache.link.take()
        session = self.scheduler.open_session()
        for action in self.scheduler.actions:
            action.execute(session)
        self._read(session, outcome)
        session.close()
        verify(self.cache)
        written = self.cache.link.take()
        self.writes += written
        outcome.binds = {f"{m.namespace}/{m.name}": m.node for m in written if isinstance(m, Bind)}
        outcome.placements.update(outcome.binds)
        outcome.evicted = sorted(f"{m.namespace}/{m.name}" for m in written if isinstance(m, Evict))
        outcome.binds_per_job = binds_per_job(self.objects.values(), outcome.binds)
        outcome.binds_per_hyper_node = binds_per_hyper_node(self.case, outcome.binds)
        for key, phase in outcome.phases.items():
            # recorded before gang's close hook marked its jobs, so that Unknown does not show
            now = self.cache.picture.jobs[key].phase
            outcome.phases[key] = phase if now == "Unknown" else now
        return outcome

    def _read(self, session: Session, outcome: Outcome) -> None:
        """What only the open session knows."""
        for job in session.jobs.values():
            outcome.phases[job.key] = update.phase_of(job, False)
            statuses = collections.Counter(NAMES[task.status] for task in job.tasks.values())
            outcome.task_counts[job.key] = dict(statuses)
            pipelined = [task.node.name for task in job.tasks.values() if task.status == PIPELINED and task.node]
            if pipelined:
                outcome.pipelined[job.key] = sorted(pipelined)
            outcome.allocated_hyper_node[job.key] = job.allocated_hypernode
            found = why(session, job)
            for task in job.tasks.values():
                if task.node is not None and task.status in (ALLOCATED, PIPELINED):
                    outcome.placements[task.key] = task.node.name
                if task.status == PENDING:
                    fit = job.fit_errors.get(task.uid)
                    texts = [found.sentence if found else "", fit.text if fit is not None else ""]
                    outcome.why_pending[task.key] = "; ".join(text for text in texts if text) or "not reached"


def probe_nodes(session: Session) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, list[Any]]]]:
    """Filter and score every waiting task of a job: scores of the nodes that pass, reasons of the others."""
    scores: dict[str, dict[str, float]] = {}
    unfit: dict[str, dict[str, list[Any]]] = {}
    pipeline, nodes = session.pipeline, list(session.nodes.values())
    for job in session.jobs.values():
        for task in job.pending.values():
            ask = pipeline.ask(task)
            impossible = session.pre_predicate(task)
            passing = []
            for node in nodes:
                if lacks_room(session, ask.shape.request, node.row):
                    unfit.setdefault(task.key, {})[node.name] = ["resources"]
                    continue
                reasons = [impossible] if impossible else pipeline.reasons_at(ask, node.row, room=False)
                if reasons:
                    named = [[CODE_NAMES[code], text] for code, text in reasons]
                    unfit.setdefault(task.key, {})[node.name] = named
                else:
                    passing.append(node)
            if passing:
                rows = np.array([node.row for node in passing])
                totals = pipeline.scores(ask, rows)
                scores[task.key] = {node.name: float(total) for node, total in zip(passing, totals, strict=True)}
    return scores, unfit


def lacks_room(session: Session, request: Any, row: int) -> bool:
    """Whether a request is more than what is idle or being released on a node."""
    future = session.node_table.future
    return any(future[column, row] <= amount - EPSILON for column, amount in request.items)


def key_of(obj: Object) -> str:
    """Kind and key, unlike for any two objects."""
    metadata = obj["metadata"]
    name = f"{metadata['namespace']}/{metadata['name']}" if metadata.get("namespace") else metadata["name"]
    return f"{obj['kind']} {name}"
