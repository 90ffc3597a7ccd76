"""Label selectors and selector expressions (spec 06 §2.9, §2.12), and small readers of object metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .quantity import integer

Object = dict[str, Any]  # a Kubernetes object as JSON


def annotation(obj: Object, key: str) -> str | None:
    return (obj["metadata"].get("annotations") or {}).get(key)


def label(obj: Object, key: str) -> str | None:
    return (obj["metadata"].get("labels") or {}).get(key)


def annotation_or_label(obj: Object, key: str) -> str | None:
    """The annotation, else the label."""
    value = annotation(obj, key)
    return label(obj, key) if value is None else value


def labels_of(obj: Object) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


def created(obj: Object) -> str:
    """The creation time as text, which orders like the time."""
    return obj["metadata"].get("creationTimestamp") or ""


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether a label selector matches; a missing selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(expression_holds(expression, labels) for expression in selector.get("matchExpressions") or [])


def has_requirements(selector: Mapping[str, Any]) -> bool:
    return bool(selector.get("matchLabels")) or bool(selector.get("matchExpressions"))


def expression_holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """One selector expression; a malformed one matches nothing."""
    key, operator, values = expression["key"], expression["operator"], expression.get("values") or []
    if operator == "In":
        return bool(values) and labels.get(key) in values
    if operator == "NotIn":
        return bool(values) and (key not in labels or labels[key] not in values)
    if operator == "Exists":
        return not values and key in labels
    if operator == "DoesNotExist":
        return not values and key not in labels
    if operator in ("Gt", "Lt") and len(values) == 1:
        have, bound = integer(labels.get(key)), integer(values[0])
        if have is not None and bound is not None:
            return have > bound if operator == "Gt" else have < bound
    return False
