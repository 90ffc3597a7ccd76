"""Figures: what a benchmark measured, how often, what the gate asks and what the reference reached.

A figure is either a rate (more is better) or an amount (less is better). It is kept by the wall clock and,
where one process does all the work, also by that process' CPU time: on a machine that others use too the
second is the fairer one, and neither is better than the machine was quiet.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Spent(NamedTuple):
    """Seconds that something took: by the wall clock, and of this thread's CPU."""

    wall_s: float
    cpu_s: float


class Watch:
    """Collects what each pass through `measure` took."""

    def __init__(self) -> None:
        self.laps: list[Spent] = []

    @contextmanager
    def measure(self) -> Iterator[None]:
        wall, cpu = time.perf_counter(), time.thread_time()
        yield
        self.laps.append(Spent(time.perf_counter() - wall, time.thread_time() - cpu))


@dataclass(frozen=True)
class Gate:
    """What a figure must reach, one of the two."""

    at_least: float | None = None
    at_most: float | None = None

    def is_met(self, value: float) -> bool:
        return (self.at_least is None or value >= self.at_least) and (self.at_most is None or value <= self.at_most)

    def __str__(self) -> str:
        return f"≥ {self.at_least:,g}" if self.at_least is not None else f"≤ {self.at_most:,g}"


@dataclass
class Figure:
    """One line of a report. `cpu` are the same repetitions by CPU time, empty where that says nothing."""

    name: str
    unit: str
    values: list[float]
    more_is_better: bool = False
    cpu: list[float] = field(default_factory=list)
    gate: Gate | None = None
    reference: float | None = None  # what the reference reached in the same unit
    note: str = ""
    by_median: bool = False  # judged by the median: of ratios the best is but the luckiest
    loops: float | None = None  # CPU time of one unit of work in yardstick loops; set by the runner

    @property
    def best(self) -> float:
        return max(self.values) if self.more_is_better else min(self.values)

    @property
    def best_cpu(self) -> float | None:
        if not self.cpu:
            return None
        return max(self.cpu) if self.more_is_better else min(self.cpu)

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def times_better(self) -> float | None:
        """How many times better than the reference; None without one."""
        if not self.reference or not self.best:
            return None
        return self.best / self.reference if self.more_is_better else self.reference / self.best

    @property
    def verdict(self) -> str:
        """ "" without a gate, else "met", "met by CPU time" (others held the machine), or "missed"."""
        if self.gate is None:
            return ""
        if self.gate.is_met(self.median if self.by_median else self.best):
            return "met"
        if self.best_cpu is not None and self.gate.is_met(self.best_cpu):
            return "met by CPU time"
        return "missed"

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "unit": self.unit,
            "more_is_better": self.more_is_better,
            "values": self.values,
            "repetitions": len(self.values),
            "median": self.median,
            "best": self.best,
            "best_by_cpu_time": self.best_cpu,
            "yardstick_loops": self.loops,
            "gate": str(self.gate) if self.gate is not None else None,
            "verdict": self.verdict,
            "reference": self.reference,
            "times_better_than_reference": self.times_better,
            "note": self.note,
        }


def rate(
    name: str,
    unit: str,
    count: int,
    laps: Sequence[Spent],
    *,
    at_least: float | None = None,
    reference: float | None = None,
    note: str = "",
) -> Figure:
    """So many things a second, `count` of them in each lap."""
    return Figure(
        name,
        unit,
        [count / lap.wall_s for lap in laps],
        more_is_better=True,
        cpu=[count / max(lap.cpu_s, 1e-9) for lap in laps],
        gate=Gate(at_least=at_least) if at_least is not None else None,
        reference=reference,
        note=note,
    )


def duration(
    name: str,
    laps: Sequence[Spent],
    *,
    at_most_ms: float | None = None,
    reference_ms: float | None = None,
    note: str = "",
) -> Figure:
    """Milliseconds a lap."""
    return Figure(
        name,
        "ms",
        [lap.wall_s * 1e3 for lap in laps],
        cpu=[lap.cpu_s * 1e3 for lap in laps],
        gate=Gate(at_most=at_most_ms) if at_most_ms is not None else None,
        reference=reference_ms,
        note=note,
    )


def amount(
    name: str,
    unit: str,
    values: Sequence[float],
    *,
    at_most: float | None = None,
    more_is_better: bool = False,
    reference: float | None = None,
    note: str = "",
) -> Figure:
    """A plain number."""
    return Figure(
        name,
        unit,
        list(values),
        more_is_better=more_is_better,
        gate=Gate(at_most=at_most) if at_most is not None else None,
        reference=reference,
        note=note,
    )


def ratio(
    name: str,
    values: Sequence[float],
    *,
    at_least: float | None = None,
    at_most: float | None = None,
    note: str = "",
) -> Figure:
    """One measured thing to another of the same run, judged by the median."""
    return Figure(
        name,
        "ratio",
        list(values),
        more_is_better=at_least is not None,
        gate=Gate(at_least=at_least, at_most=at_most),
        by_median=True,
        note=note,
    )
