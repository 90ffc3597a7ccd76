"""Runs one benchmark in a process of its own, so that none inherits another's memory, garbage or warm caches.

The yardsticks are timed in that process before and after the work, and the better of both counts.
"""

from __future__ import annotations

import multiprocessing
import sys
import traceback
from dataclasses import dataclass, field
from typing import Any

from benchmarks import machine, yardstick
from benchmarks.catalogue import SUITES
from benchmarks.figures import Figure
from benchmarks.yardstick import Yardstick

SWITCH_INTERVAL_S = 0.0005  # as in the daemon
NO_YARDSTICK = Yardstick(0.0, 0.0)


@dataclass
class Result:
    """The figures of one benchmark, or why there are none."""

    suite: str
    name: str
    what: str
    machine: dict[str, Any]
    load_before: float = 0.0
    load_after: float = 0.0
    yardstick: Yardstick = NO_YARDSTICK
    figures: list[Figure] = field(default_factory=list)
    failure: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "suite": self.suite,
            "name": self.name,
            "what": self.what,
            "machine": self.machine,
            "load_average": {"before": self.load_before, "after": self.load_after},
            "yardstick_us": self.yardstick._asdict(),
            "figures": [figure.as_json() for figure in self.figures],
            "failure": self.failure,
        }


def run(suite: str, name: str) -> Result:
    """Run it; a benchmark that fails gives a result that says so."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_in_process, args=(suite, name, theirs), name=f"bench-{name}")
    process.start()
    theirs.close()
    try:
        return ours.recv()  # type: ignore[no-any-return]
    except EOFError:
        process.join()
        return _blank(suite, name, failure=f"the process ended with code {process.exitcode}")
    finally:
        process.join()


def measured(suite: str, name: str) -> Result:
    """Run it in this process."""
    result = _blank(suite, name, load_before=machine.load())
    before = yardstick.measure()
    try:
        result.figures = SUITES[suite][name]()
    except Exception:
        result.failure = traceback.format_exc()
    result.yardstick = yardstick.better(before, yardstick.measure())
    result.load_after = machine.load()
    for figure in result.figures:
        figure.loops = _in_loops(figure, result.yardstick)
    return result


def _blank(suite: str, name: str, **given: Any) -> Result:
    what = (SUITES[suite][name].__doc__ or "").strip()
    return Result(suite, name, what, machine.describe(), **given)


def _in_process(suite: str, name: str, pipe: Any) -> None:
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    pipe.send(measured(suite, name))


def _in_loops(figure: Figure, stick: Yardstick) -> float | None:
    """CPU time of one unit of work (a placement, a session) in loops of the yardstick."""
    best = figure.best_cpu
    if not best:
        return None
    us = 1e6 / best if figure.more_is_better else best * 1e3
    return us / stick.loop_us
