"""Kinds of metrics that the client library does not have: families with kept children, plain counters, gauges of jobs.

`prometheus_client` looks a labelled child up under a lock and appends `_total` to the name of every
counter; two counters of the reference have no such ending (spec 02 §20). It also takes 13 µs a series to write
the text, which is five seconds of a session's time where 90,000 jobs have four each.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.samples import Sample
from prometheus_client.utils import floatToGoString

_UNSAFE = re.compile(r'[\\"\n]')
_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n"}


class FastHistogram(Histogram):
    """A histogram that finds its bucket by bisection and takes several equal values at once.

    The library's own walks the buckets and checks its arguments: 4 µs for each task of a session.
    """

    def observe_many(self, amount: float, count: int) -> None:
        """Observe the same amount `count` times."""
        self._sum.inc(amount * count)
        self._buckets[bisect_left(self._upper_bounds, amount)].inc(count)

    def observe_waits(self, since_s: Mapping[float, int], now_s: float) -> None:
        """Observe how long it is since each of these times, as often as it says; one lock a bucket."""
        found = [0] * len(self._buckets)
        total = 0.0
        for at, count in since_s.items():
            waited_ms = milliseconds(now_s - at)
            total += waited_ms * count
            found[bisect_left(self._upper_bounds, waited_ms)] += count
        self._sum.inc(total)
        for bucket, count in zip(self._buckets, found, strict=True):
            if count:
                bucket.inc(count)


Kind = TypeVar("Kind", Counter, Gauge, FastHistogram, Histogram)


class Family(Generic[Kind]):
    """A metric with labels; children are kept by their label values."""

    __slots__ = ("_children", "_metric")

    def __init__(self, metric: Kind) -> None:
        self._metric: Kind = metric
        self._children: dict[tuple[str, ...], Kind] = {}

    def at(self, *labels: str) -> Kind:
        """The series with these label values; it exists from now on."""
        child = self._children.get(labels)
        if child is None:
            child = self._children[labels] = self._metric.labels(*labels)
        return child

    def drop(self, *labels: str) -> None:
        """Take the series away, if it is there."""
        if self._children.pop(labels, None) is not None:
            self._metric.remove(*labels)

    def drop_all(self, value: str, position: int = 0) -> None:
        """Take away every series whose label at this position, by default the first, has this value."""
        for labels in [labels for labels in self._children if labels[position] == value]:
            self.drop(*labels)


class JobGauge:
    """A gauge with a series a job, kept as plain numbers until somebody scrapes; it writes its text itself.

    A child of the library's own gauge costs 20 µs to make; a session may place thousands of new jobs. `labels`
    are in alphabetical order, in which the library would write them.
    """

    def __init__(self, name: str, help_: str, *labels: str) -> None:
        self._head = f"# HELP {name} {help_}\n# TYPE {name} gauge\n"
        named = ",".join(f'{label}="%s"' for label in labels)
        self._line = f"{name}{{{named}}} %s\n"
        self._values: dict[tuple[str, ...], float] = {}

    def set(self, labels: tuple[str, ...], value: float) -> None:
        """Set the series with these label values; it exists from now on."""
        self._values[labels] = value

    def drop(self, *labels: str) -> None:
        """Take the series away, if it is there."""
        self._values.pop(labels, None)

    def text(self) -> str:
        """What a scrape sees; called in the thread that serves it."""
        line = self._line
        parts = [self._head]
        for labels, value in list(self._values.items()):
            shown = map(_escaped, labels) if _UNSAFE.search("".join(labels)) else labels
            parts.append(line % (*shown, floatToGoString(value)))  # type: ignore[no-untyped-call]
        return "".join(parts)


class PlainCounter(Counter):
    """A counter whose series has exactly the given name."""

    def _child_samples(self) -> Iterable[Sample]:
        return (Sample("", {}, self._value.get(), None, None),)


def buckets(low: float, high: float, count: int) -> Sequence[float]:
    """`count` upper bounds from `low` to `high` in equal ratios."""
    return [low * (high / low) ** (i / (count - 1)) for i in range(count)]


def exposition(registry: CollectorRegistry, plain: Iterable[str], of_jobs: Iterable[JobGauge]) -> bytes:
    """The text format; the headers of the `plain` counters are given the name their series have."""
    text = generate_latest(registry)
    for name in plain:
        for header in ("HELP", "TYPE"):
            text = text.replace(f"# {header} {name}_total ".encode(), f"# {header} {name} ".encode())
    return text + b"".join(gauge.text().encode() for gauge in of_jobs)


def _escaped(label: str) -> str:
    """A label's value as the text format has it; the name of a queue may be anybody's text."""
    return _UNSAFE.sub(lambda found: _ESCAPES[found[0]], label)


def milliseconds(seconds: float) -> float:
    """A duration as the metrics have it; below 0 (clocks differ) counts as 0."""
    return seconds * 1000.0 if seconds > 0.0 else 0.0
