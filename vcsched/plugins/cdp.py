"""cdp: a pod that has just been placed is no victim until its cooldown time has passed (spec 05 §13).

The time is a label of the pod, or an annotation. It counts from the moment the pod was scheduled, and
protects running pods only. It also holds against the gang actions (design-notes §7 row 20).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vcsched.framework.plugin import PERMIT, Plugin
from vcsched.kube.keys import COOLDOWN_TIME, POD_SCHEDULED
from vcsched.model.gotext import parse_duration

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.task import Task


class Cooldown(Plugin):
    name = "cdp"

    _ssn: Session

    def open(self, ssn: Session) -> None:
        self._ssn = ssn
        ssn.preemptable.add(self, self.cooled_down)
        ssn.reclaimable.add(self, self.cooled_down)
        if ssn.compat.gang_victim_scope == "protective":
            ssn.unified_evictable.add(self, self.cooled_down)

    def cooled_down(self, evictor: Any, candidates: Sequence[Task]) -> tuple[Sequence[Task], int]:
        """The candidates that are not protected any more, in their order."""
        now = self._ssn.now
        free = []
        for task in candidates:
            until = protected_until(task)
            if until is None or until <= now:
                free.append(task)
            else:
                self._ssn.wake_at(until)
        return free, PERMIT


def protected_until(task: Task) -> float | None:
    """The unix time at which the cooldown of a running pod ends; None for a pod without one."""
    meta, status = task.pod.metadata, task.pod.status
    text = meta.labels.get(COOLDOWN_TIME, meta.annotations.get(COOLDOWN_TIME))
    if text is None or status.phase != "Running":
        return None
    cooldown = parse_duration(text)
    if cooldown is None:
        return None
    for condition in status.conditions:
        if condition.type == POD_SCHEDULED and condition.status == "True":
            since = condition.last_transition_time
            return None if since is None else since.timestamp() + cooldown
    return None
