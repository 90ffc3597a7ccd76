"""cdp: a pod is safe for a while after it was scheduled (spec 05 §13)."""

from __future__ import annotations

import datetime

from tests.oracle.points import PERMIT, Vote
from tests.oracle.quantity import duration
from tests.oracle.selectors import annotation, label
from tests.oracle.task import Task

from .base import Plugin

COOLDOWN = "volcano.sh/cooldown-time"


class CooldownProtection(Plugin):
    def preemptable(self, evictor: Task, candidates: list[Task]) -> tuple[list[Task], Vote]:
        return [task for task in candidates if not self.is_protected(task)], PERMIT

    reclaimable = preemptable

    def is_protected(self, task: Task) -> bool:
        from tests.oracle.session import parse_time

        text = label(task.pod, COOLDOWN)
        seconds = duration(annotation(task.pod, COOLDOWN) if text is None else text)
        if seconds is None or task.pod_status.get("phase") != "Running":
            return False
        for condition in task.pod_status.get("conditions") or []:
            if condition["type"] == "PodScheduled" and condition["status"] == "True":
                end = parse_time(condition["lastTransitionTime"]) + datetime.timedelta(seconds=seconds)
                return end > self.session.now
        return False
