"""rescheduling: names victims for the shuffle action, once in an interval (spec 05 §16).

Needs the measured load of nodes; a node without a fresh measurement is neither busy nor idle. Only pods that
may be preempted are named, and plugins that protect pods have the last word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vcsched.framework.plugin import Plugin
from vcsched.model.gotext import parse_duration
from vcsched.plugins.rescheduling import params
from vcsched.plugins.rescheduling.utilization import Utilization

if TYPE_CHECKING:
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session
    from vcsched.model.task import Task

_INTERVAL = "interval"
_DEFAULT_S = 300.0


class Rescheduling(Plugin):
    name = "rescheduling"

    _ssn: Session

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        text = args.str(_INTERVAL, "5m")
        interval = parse_duration(text)
        if interval is None:
            interval = args.unusable(_INTERVAL, text, "a duration such as 5m", _DEFAULT_S)
        self._interval = interval
        args.get("metricsPeriod")  # loads are of one period; there is nothing to choose
        self._params = params.read(args.get("strategies"), args.unusable)
        self._last: float | None = None  # unix time of the last round

    def open(self, ssn: Session) -> None:
        self._ssn = ssn
        if self._last is None:
            self._last = ssn.now
        if self._params is not None:
            ssn.victim_tasks.add(self, self.victims)

    def victims(self, tasks: Sequence[Task]) -> list[Task]:
        """Of these running tasks, those that leave busy nodes."""
        assert self._last is not None
        assert self._params is not None
        if self._ssn.now - self._last < self._interval:
            return []
        self._last = self._ssn.now
        return Utilization(self._ssn, self._params).victims(tasks)
