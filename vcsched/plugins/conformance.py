"""Conformance: pods that keep the cluster alive are never victims (spec 05 §5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vcsched.framework.plugin import PERMIT, Plugin
from vcsched.framework.victims import is_critical

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.task import Task


class Conformance(Plugin):
    name = "conformance"

    def open(self, ssn: Session) -> None:
        ssn.preemptable.add(self, not_critical)
        ssn.reclaimable.add(self, not_critical)
        ssn.unified_evictable.add(self, not_critical)
        if ssn.compat.victim_veto == "protective":
            ssn.victim_tasks.protect(self, lambda victims: not_critical(None, victims)[0])


def not_critical(evictor: Any, candidates: Sequence[Task]) -> tuple[Sequence[Task], int]:
    """The candidates without critical pods and those of the system's namespace, in their order."""
    return [task for task in candidates if not is_critical(task)], PERMIT
