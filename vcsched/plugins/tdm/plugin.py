"""tdm: revocable zones, whose nodes take only pods that can be taken away again, and only for some hours.

Node label `volcano.sh/revocable-zone` names the zone, argument `tdm.revocable-zone.<zone>` its hours. Outside
them the shuffle action evicts the pods there, a few at a time. A zone whose hours cannot be read takes no
pods, and none are evicted from it.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from vcsched.framework.plugin import PERMIT, REJECT, UNRESOLVABLE, Ask, Nodes, Plugin, Verdict, compare
from vcsched.kube.keys import REVOCABLE_ZONE
from vcsched.model import podflags
from vcsched.model.gotext import parse_duration
from vcsched.model.status import PENDING, RUNNING
from vcsched.plugins.tdm.disruption import within_budgets
from vcsched.plugins.tdm.window import Window, WindowError, parse_window

if TYPE_CHECKING:
    from vcsched.framework.api import Pod
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.task import Task

_ZONE = "tdm.revocable-zone."
_PERIOD = "tdm.evict.period"
_SCORE = 100.0


class Tdm(Plugin):
    name = "tdm"

    _ssn: Session

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self._raw: dict[str, str] = {}
        self._windows: dict[str, Window] = {}
        self._flaws: dict[str, str] = {}
        for key in args:
            if _ZONE in key:
                self._read_zone(key.replace(_ZONE, "", 1), key)
        self._period = self._read_period()
        self._evicted_at = -np.inf
        self._closed: dict[str, str] = {}  # zone -> why nothing goes there now

    def _read_zone(self, zone: str, key: str) -> None:
        text = self.args.str(key)
        self._raw[zone] = text
        try:
            self._windows[zone] = parse_window(text)
        except WindowError as error:
            self._flaws[zone] = str(error)
            self.args.unusable(key, text, "hours such as 22:00-6:00; the zone takes no pods", None)

    def _read_period(self) -> float:
        text = self.args.str(_PERIOD, "1m")
        period = parse_duration(text)
        return self.args.unusable(_PERIOD, text, "a duration such as 1m", 60.0) if period is None else period

    def shape_key(self, pod: Pod) -> Hashable:
        return podflags.revocable_zone(pod.metadata)

    def open(self, ssn: Session) -> None:
        self._ssn = ssn
        self._closed = {**self._flaws}
        for zone, window in self._windows.items():
            if not window.is_open(ssn.now):
                self._closed[zone] = f"current time beyond revocable zone {zone}:{self._raw[zone]}"
            ssn.wake_at(window.next_change(ssn.now))
        ssn.predicate.add(self, vector=self.refuse, reads="pods", version=self.hours_and_nodes)
        ssn.node_order.add(self, vector=self.prefer, reads="node", version=self.hours)
        ssn.preemptable.add(self, self.of_ordinary_nodes)
        ssn.victim_tasks.add(self, self.overdue)
        ssn.job_order.add(self, lambda a, b: compare(a.preemptable, b.preemptable), key=lambda job: job.preemptable)
        ssn.job_pipelined.add(self, lambda job: PERMIT if job.is_pipelined() else REJECT)
        ssn.job_starving.add(self, is_starving)

    # ------------------------------------------------------------------ nodes

    def obstacle(self, zone: str) -> str:
        """Why no pod goes to a zone now, or ""."""
        if zone in self._raw:
            return self._closed.get(zone, "")
        return f"revocable zone {zone} not support"

    def hours(self, ask: Ask) -> Hashable:
        """What the answers about nodes depend on, beside the nodes."""
        return frozenset(self._closed)

    def hours_and_nodes(self, ask: Ask) -> Hashable:
        return self.hours(ask), self._ssn.world.node_log.position

    def refuse(self, ask: Ask, nodes: Nodes, verdict: Verdict) -> None:
        """Revocable nodes are for pods that allow it, in the hours of their zone."""
        zones = nodes.label(REVOCABLE_ZONE)
        allowed = may_be_revoked(ask.task)
        for zone in {zone for zone in zones.values if zone}:
            reason = self.obstacle(zone) or ("" if allowed else "not allow to dispatch to revocable node")
            if reason:
                verdict.fail(zones.where(lambda z, zone=zone: z == zone), reason, UNRESOLVABLE)  # type: ignore[misc]

    def prefer(self, ask: Ask, nodes: Nodes) -> Any:
        """float64[k]: pods that may be revoked go to revocable nodes first."""
        if not may_be_revoked(ask.task):
            return np.zeros(nodes.k)
        return nodes.label(REVOCABLE_ZONE).map(lambda zone: _SCORE if zone and not self.obstacle(zone) else 0.0)

    # ------------------------------------------------------------------ victims

    def of_ordinary_nodes(self, preemptor: Task, candidates: Sequence[Task]) -> tuple[Sequence[Task], int]:
        """Pods that must stay push preemptable ones off ordinary nodes."""
        if preemptor.preemptable or may_be_revoked(preemptor):
            return (), REJECT
        found = (
            task
            for task in candidates
            if task.preemptable
            and task.status == RUNNING
            and task.node is not None
            and not task.node.labels.get(REVOCABLE_ZONE)
        )
        return within_budgets(found), PERMIT

    def overdue(self, tasks: Sequence[Task]) -> list[Task]:
        """Preemptable pods on nodes of zones whose hours are over, once in a period."""
        ssn = self._ssn
        if self._evicted_at + self._period > ssn.now:
            return []
        self._evicted_at = ssn.now
        shut = [zone for zone in self._windows if zone in self._closed]
        if not shut:
            return []
        n = ssn.node_table.n
        zones = ssn.world.label(REVOCABLE_ZONE).select(slice(0, n))
        found: list[Task] = []
        for zone in shut:
            here = zones.where(lambda z, zone=zone: z == zone)  # type: ignore[misc]
            for row in np.flatnonzero(here & ssn.node_table.alive[:n]).tolist():
                node = ssn.world.node_at[row]
                assert node is not None
                found += [task for task in node.tasks.values() if task.preemptable and task.status == RUNNING]
        return within_budgets(found)


def may_be_revoked(task: Task) -> bool:
    """Whether the pod may use nodes that can be taken away."""
    return podflags.revocable_zone(task.pod.metadata) == "*"


def is_starving(job: Job) -> bool:
    """A job that must not be interrupted starves while any of its pods waits."""
    return not job.preemptable and job.counts[PENDING] > 0
