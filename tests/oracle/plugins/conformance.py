"""conformance: system pods are no victims (spec 05 §5)."""

from __future__ import annotations

from tests.oracle.points import PERMIT, Vote
from tests.oracle.task import Task

from .base import Plugin

CRITICAL = ("system-cluster-critical", "system-node-critical")


class Conformance(Plugin):
    def preemptable(self, evictor: object, candidates: list[Task]) -> tuple[list[Task], Vote]:
        return [
            task
            for task in candidates
            if task.pod_spec.get("priorityClassName") not in CRITICAL and task.namespace != "kube-system"
        ], PERMIT

    reclaimable = unified_evictable = preemptable
