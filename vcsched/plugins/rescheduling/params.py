"""The parameters of the strategy `lowNodeUtilization`, as the arguments of the plugin give them (spec 05 §16)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")

LOW_NODE_UTILIZATION = "lowNodeUtilization"
CRITICAL = "system-cluster-critical"

Warn = Callable[[str, Any, str, Any], Any]
"""(key, value, what it should be, what is used instead)"""


class Percent(NamedTuple):
    """Of a node, in use."""

    cpu: float
    memory: float


class Params(NamedTuple):
    """Nodes below `thresholds` take pods from nodes above `targets`; pods from `threshold_class` up stay."""

    thresholds: Percent = Percent(100, 100)
    targets: Percent = Percent(100, 100)
    number_of_nodes: int = 0  # low nodes there must be more of
    node_fit: bool = True  # only pods that a low node could take
    threshold_class: str = CRITICAL


def read(given: Any, warn: Warn) -> Params | None:
    """The parameters out of the argument `strategies`; None if it names only strategies that do not exist."""
    if given and not isinstance(given, list):
        warn("strategies", given, "a list of {name, params}", LOW_NODE_UTILIZATION)
    if not given or not isinstance(given, list):
        return Params()
    for entry in given:
        if isinstance(entry, Mapping) and entry.get("name") == LOW_NODE_UTILIZATION:
            return _params(_of_type(entry, "params", dict, {}, warn), warn)
        warn("strategies", entry, f"a strategy; the only one is {LOW_NODE_UTILIZATION}", None)
    return None


def _params(given: Mapping[str, Any], warn: Warn) -> Params:
    standard = Params()
    return Params(
        thresholds=_percent(given, "thresholds", warn),
        targets=_percent(given, "targetThresholds", warn),
        number_of_nodes=_of_type(given, "numberOfNodes", int, standard.number_of_nodes, warn),
        node_fit=_of_type(given, "nodeFit", bool, standard.node_fit, warn),
        threshold_class=_of_type(given, "thresholdPriorityClassName", str, standard.threshold_class, warn),
    )


def _of_type(given: Mapping[str, Any], key: str, kind: type[T], default: T, warn: Warn) -> T:
    value = given.get(key)
    if value is None:
        return default
    if type(value) is not kind:
        warn(key, value, f"of type {kind.__name__}", default)
        return default
    return value


def _percent(params: Mapping[str, Any], key: str, warn: Warn) -> Percent:
    """Both default to 100, at which no node is too busy. Pods are not measured, so their percentage is not read."""
    given = _of_type(params, key, dict, {}, warn)
    return Percent(_of_type(given, "cpu", int, 100, warn), _of_type(given, "memory", int, 100, warn))
