"""tdm: revocable nodes that may be used during a time window (spec 05 §14, §15)."""

from __future__ import annotations

import datetime
import math
import re

from tests.oracle.job import Job
from tests.oracle.node import Node
from tests.oracle.points import PERMIT, REJECT, Reasons, Vote
from tests.oracle.quantity import boolean
from tests.oracle.search import UNRESOLVABLE
from tests.oracle.selectors import annotation
from tests.oracle.task import Task

from .base import Plugin

ZONE = "volcano.sh/revocable-zone"
ARGUMENT = "tdm.revocable-zone."
MIN_AVAILABLE = "volcano.sh/jdb-min-available"
MAX_UNAVAILABLE = "volcano.sh/jdb-max-unavailable"


class TimeDivision(Plugin):
    def open(self) -> None:
        self.windows = {key.replace(ARGUMENT, "", 1): value for key, value in self.arguments.items() if ARGUMENT in key}

    # ---- helpers (spec 05 §14)

    def _closed(self, zone: str) -> str | None:
        """Why the zone may not be used now, or None."""
        raw = self.windows.get(zone)
        if raw is None:
            return f"revocable zone {zone} not support"
        parts = raw.strip().split("-")
        if len(parts) != 2:
            return f"revocable zone {raw} format error"
        minutes = [minute_of_day(part) for part in parts]
        if minutes[0] is None or minutes[1] is None:
            return "time parse"
        now = self.session.now
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        start, end = (midnight + datetime.timedelta(minutes=minute or 0) for minute in minutes)
        if minutes[0] >= minutes[1]:
            end += datetime.timedelta(days=1)
        return None if start <= now <= end else f"current time beyond revocable zone {zone}:{raw}"

    def _limited(self, tasks: list[Task]) -> list[Task]:
        """At most what the disruption budget of each job lets go."""
        counts: dict[str, int] = {}
        out = []
        for task in tasks:
            job = self.session.jobs.get(task.job_key)
            if job is not None and counts.get(job.key, 0) < most_evictions(job):
                counts[job.key] = counts.get(job.key, 0) + 1
                out.append(task)
        return out

    # ---- extension points (spec 05 §15)

    def predicate(self, task: Task, node: Node) -> Reasons:
        zone = zone_of(node)
        if not zone:
            return []
        reason = self._closed(zone)
        if reason is None and not may_use_revocable(task):
            reason = "not allow to dispatch to revocable node"
        return [(UNRESOLVABLE, reason)] if reason else []

    def node_order(self, task: Task, node: Node) -> float:
        zone = zone_of(node)
        return 100.0 if zone and not self._closed(zone) and may_use_revocable(task) else 0.0

    def preemptable(self, evictor: Task, candidates: list[Task]) -> tuple[list[Task], Vote]:
        if evictor.preemptable or may_use_revocable(evictor):
            return [], REJECT
        nodes = self.session.nodes
        return self._limited(
            [
                task
                for task in candidates
                if task.preemptable
                and task.status == "Running"
                and task.node in nodes
                and not zone_of(nodes[task.node])
            ]
        ), PERMIT

    def victim_tasks(self, tasks: list[Task]) -> list[Task]:
        """What runs on revocable nodes whose window is over."""
        closed = [zone for zone in self.windows if self._closed(zone)]
        return self._limited(
            [
                task
                for zone in closed
                for node in self.session.nodes.values()
                if zone_of(node) == zone
                for task, status in node.placed.values()
                if task.preemptable and status == "Running"
            ]
        )

    def job_order(self, left: Job, right: Job) -> int:
        return int(left.preemptable) - int(right.preemptable)

    def job_pipelined(self, job: Job) -> Vote:
        return PERMIT if job.is_pipelined() else REJECT

    def job_starving(self, job: Job) -> bool:
        return not job.preemptable and job.count("Pending") > 0


def minute_of_day(text: str) -> int | None:
    match = re.match(r"^(\d{1,2}):(\d{2})$", text)
    if not match or int(match.group(1)) > 23 or int(match.group(2)) > 59:
        return None
    return int(match.group(1)) * 60 + int(match.group(2))


def zone_of(node: Node) -> str:
    return node.labels.get(ZONE) or ""


def may_use_revocable(task: Task) -> bool:
    zone = annotation(task.pod, ZONE)
    return zone == "*" if zone is not None else bool(boolean(annotation(task.pod, "volcano.sh/preemptable")))


def most_evictions(job: Job) -> int:
    """How many tasks of the job may be evicted at once."""
    available, unavailable = (
        annotation(job.pod_group, MIN_AVAILABLE),
        annotation(job.pod_group, MAX_UNAVAILABLE),
    )
    if available is None and unavailable is not None:
        already = len(job.tasks) - job.count("Succeeded", "Failed", "Running")
        return max(0, count_or_percent(unavailable, job) - already)
    if available is not None and job.count("Running") >= count_or_percent(available, job):
        return job.count("Running") - count_or_percent(available, job)
    return 1


def count_or_percent(text: str, job: Job) -> int:
    try:
        return math.ceil(len(job.tasks) * float(text[:-1]) / 100) if text.endswith("%") else int(text)
    except ValueError:
        return 0
