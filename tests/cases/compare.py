"""Comparing an outcome with what a case expects."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .outcome import Outcome

TOLERANCE = 1e-6


def differences(expect: Mapping[str, Any], outcome: Outcome) -> list[str]:
    """One line for each fact that came out differently; keys that `expect` does not have are not checked."""
    if outcome.error:
        return [f"ended with an error: {outcome.error}"]
    lines: list[str] = []
    for key, wanted in expect.items():
        compare = COMPARISONS.get(key)
        lines += [f"expect key not known: {key}"] if compare is None else compare(wanted, outcome)
    return lines


def close_to(left: float, right: float) -> bool:
    return abs(left - right) <= TOLERANCE * max(1.0, abs(left), abs(right))


def _changes(what: str, wanted: Mapping[str, Any], actual: Mapping[str, Any], default: Any = None) -> Iterator[str]:
    """Lines for the keys whose values differ."""
    for key in sorted(set(wanted) | set(actual)):
        if wanted.get(key, default) != actual.get(key, default):
            yield f"{what} {key}: expected {wanted.get(key, default)}, got {actual.get(key, default)}"


def _binds(wanted: dict[str, str], outcome: Outcome) -> Iterator[str]:
    return _changes("bind", wanted, outcome.binds)


def _bind_count(wanted: int, outcome: Outcome) -> Iterator[str]:
    if len(outcome.binds) != wanted:
        yield f"bindCount: expected {wanted}, got {len(outcome.binds)}"


def _binds_per_job(wanted: dict[str, int], outcome: Outcome) -> Iterator[str]:
    return _changes("binds of job", wanted, outcome.binds_per_job, 0)


def _evicted(wanted: list[str], outcome: Outcome) -> Iterator[str]:
    expected, actual = collections.Counter(wanted), collections.Counter(outcome.evicted)
    if expected != actual:
        missing, extra = sorted((expected - actual).elements()), sorted((actual - expected).elements())
        yield f"evicted: missing {missing}, too many {extra}"


def _evict_count(wanted: int, outcome: Outcome) -> Iterator[str]:
    if len(outcome.evicted) != wanted:
        yield f"evictCount: expected {wanted}, got {len(outcome.evicted)}"


def _pipelined(wanted: dict[str, list[str]], outcome: Outcome) -> Iterator[str]:
    for job, nodes in wanted.items():
        actual = outcome.pipelined.get(job)
        if not actual or not set(actual) <= set(nodes):
            yield f"pipelined {job}: expected on {nodes}, got {actual}"


def _phases(wanted: dict[str, str], outcome: Outcome) -> Iterator[str]:
    for job, phase in wanted.items():
        if outcome.phases.get(job) != phase:
            yield f"phase {job}: expected {phase}, got {outcome.phases.get(job)}"


def _task_counts(wanted: dict[str, dict[str, int]], outcome: Outcome) -> Iterator[str]:
    for job, counts in wanted.items():
        actual = outcome.task_counts.get(job, {})
        for status, count in counts.items():
            if actual.get(status, 0) != count:
                yield f"tasks {job} {status}: expected {count}, got {actual.get(status, 0)}"


def _binds_per_hyper_node(wanted: list[int], outcome: Outcome) -> Iterator[str]:
    if sorted(wanted) != sorted(outcome.binds_per_hyper_node):
        yield f"bindsPerHyperNode: expected {sorted(wanted)}, got {sorted(outcome.binds_per_hyper_node)}"


def _allocated_hyper_node(wanted: dict[str, str], outcome: Outcome) -> Iterator[str]:
    for job, name in wanted.items():
        actual = outcome.allocated_hyper_node.get(job) or ""
        if actual != name:
            yield f"allocatedHyperNode {job}: expected {name}, got {actual}"


def _scores(wanted: dict[str, dict[str, float]], outcome: Outcome) -> Iterator[str]:
    probed = outcome.scores or {}
    for pod in sorted(set(wanted) | set(probed)):
        expected, actual = wanted.get(pod, {}), probed.get(pod, {})
        for node in sorted(set(expected) | set(actual)):
            if node not in expected or node not in actual or not close_to(expected[node], actual[node]):
                yield f"score {pod} {node}: expected {expected.get(node)}, got {actual.get(node)}"


def _unfit(wanted: dict[str, dict[str, list[Any]]], outcome: Outcome) -> Iterator[str]:
    probed = outcome.unfit or {}
    for pod in sorted(set(wanted) | set(probed)):
        yield from _changes(f"unfit {pod}", wanted.get(pod, {}), probed.get(pod, {}))


COMPARISONS: dict[str, Callable[[Any, Outcome], Iterator[str]]] = {
    "binds": _binds,
    "bindCount": _bind_count,
    "bindsPerJob": _binds_per_job,
    "evicted": _evicted,
    "evictCount": _evict_count,
    "pipelined": _pipelined,
    "phases": _phases,
    "taskCounts": _task_counts,
    "bindsPerHyperNode": _binds_per_hyper_node,
    "allocatedHyperNode": _allocated_hyper_node,
    "scores": _scores,
    "unfit": _unfit,
}
