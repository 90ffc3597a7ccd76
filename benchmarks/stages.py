"""Where a placement's time goes, by stage, from samples of the running session.

A timer of CPU time interrupts the session; the innermost frame whose module belongs to a stage says where it
was. Modules that work for several stages (plugins, row maths, the tables) count for who called them. Sampling
takes next to nothing, so the split is that of an unprofiled session.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERVAL_S = 0.001
OTHER = "open, close and the rest"

STAGES = ("queue and job order", "filter and score", "choose", "statement", "accounting", "commit", OTHER)

_BY_FUNCTION = {
    ("framework/statement.py", "commit"): "commit",
    ("framework/session.py", "bind"): "commit",
    ("framework/session.py", "is_sub_job_ready"): "queue and job order",
    ("framework/session.py", "observe_placed"): "statement",
    ("framework/pipeline.py", "state"): "filter and score",
    ("framework/pipeline.py", "ask"): "filter and score",
    ("framework/pipeline.py", "failure"): "filter and score",
}
_BY_MODULE = {
    "framework/orders.py": "queue and job order",
    "columns/live.py": "queue and job order",
    "actions/allocate.py": "queue and job order",
    "actions/enqueue.py": "queue and job order",
    "actions/backfill.py": "queue and job order",
    "framework/shapestate.py": "filter and score",
    "framework/lift.py": "filter and score",
    "framework/pipeline.py": "choose",
    "framework/placement.py": "choose",
    "framework/statement.py": "statement",
    "columns/journal.py": "statement",
    "cache/accounting.py": "accounting",
    "cache/contributions.py": "accounting",
    "cache/binder.py": "commit",
    "cache/evictor.py": "commit",
    "kube/link.py": "commit",
    "framework/update.py": OTHER,
    "framework/explain.py": OTHER,
    "cache/status_writer.py": OTHER,
    "cache/cache.py": OTHER,
    "framework/scheduler.py": OTHER,
}


class Samples:
    """How often each stage was met, and the lines of code met most."""

    def __init__(self) -> None:
        self.stages: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Take samples while the block runs; only in the main thread."""
        before = signal.signal(signal.SIGPROF, self._take)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL_S, INTERVAL_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)

    def shares(self) -> dict[str, float]:
        """Fraction of the samples by stage, in the order of `STAGES`."""
        total = sum(self.stages.values()) or 1
        return {stage: self.stages[stage] / total for stage in STAGES}

    def _take(self, _signal: int, frame: FrameType | None) -> None:
        if frame is not None:
            self.functions[f"{_module(frame)}:{frame.f_code.co_name}"] += 1
        self.stages[_stage_of(frame)] += 1


def _stage_of(frame: FrameType | None) -> str:
    while frame is not None:
        module = _module(frame)
        stage = _BY_FUNCTION.get((module, frame.f_code.co_name)) or _BY_MODULE.get(module)
        if stage:
            return stage
        frame = frame.f_back
    return OTHER


def _module(frame: FrameType) -> str:
    return "/".join(frame.f_code.co_filename.rsplit("/", 2)[-2:])
