"""Bodies in Kubernetes' protobuf form, which kubectl's typed commands send (`create namespace`, `drain`).

Everything else speaks JSON, and so do all answers. A body is the magic `k8s\\0` and an `Unknown` message with
the kind's name and its own message. The kinds below are those such commands make; the field numbers are those
of the published `generated.proto` files.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from vcsched.simulator.errors import ApiError
from vcsched.simulator.store import Obj

CONTENT_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"

# message -> field number -> (JSON name, type); a type is a scalar, a message, "[type]" or "{type}" for a map
_MESSAGES: dict[str, dict[int, tuple[str, str]]] = {
    "Unknown": {1: ("typeMeta", "TypeMeta"), 2: ("raw", "raw")},
    "TypeMeta": {1: ("apiVersion", "text"), 2: ("kind", "text")},
    "ObjectMeta": {
        1: ("name", "text"),
        2: ("generateName", "text"),
        3: ("namespace", "text"),
        5: ("uid", "text"),
        6: ("resourceVersion", "text"),
        11: ("labels", "{text}"),
        12: ("annotations", "{text}"),
        14: ("finalizers", "[text]"),
    },
    "Namespace": {1: ("metadata", "ObjectMeta")},
    "ServiceAccount": {1: ("metadata", "ObjectMeta")},
    "ConfigMap": {
        1: ("metadata", "ObjectMeta"),
        2: ("data", "{text}"),
        3: ("binaryData", "{bytes}"),
        4: ("immutable", "bool"),
    },
    "Secret": {
        1: ("metadata", "ObjectMeta"),
        2: ("data", "{bytes}"),
        3: ("type", "text"),
        4: ("stringData", "{text}"),
        5: ("immutable", "bool"),
    },
    "PriorityClass": {
        1: ("metadata", "ObjectMeta"),
        2: ("value", "int"),
        3: ("globalDefault", "bool"),
        4: ("description", "text"),
        5: ("preemptionPolicy", "text"),
    },
    "ResourceQuota": {1: ("metadata", "ObjectMeta"), 2: ("spec", "ResourceQuotaSpec")},
    "ResourceQuotaSpec": {1: ("hard", "{quantity}"), 2: ("scopes", "[text]")},
    "PodDisruptionBudget": {1: ("metadata", "ObjectMeta"), 2: ("spec", "PodDisruptionBudgetSpec")},
    "PodDisruptionBudgetSpec": {
        1: ("minAvailable", "int-or-text"),
        2: ("selector", "LabelSelector"),
        3: ("maxUnavailable", "int-or-text"),
    },
    "LabelSelector": {1: ("matchLabels", "{text}"), 2: ("matchExpressions", "[LabelSelectorRequirement]")},
    "LabelSelectorRequirement": {1: ("key", "text"), 2: ("operator", "text"), 3: ("values", "[text]")},
    "Eviction": {1: ("metadata", "ObjectMeta"), 2: ("deleteOptions", "DeleteOptions")},
    "DeleteOptions": {
        1: ("gracePeriodSeconds", "int"),
        2: ("preconditions", "Preconditions"),
        4: ("propagationPolicy", "text"),
        5: ("dryRun", "[text]"),
    },
    "Preconditions": {1: ("uid", "text"), 2: ("resourceVersion", "text")},
    "SelfSubjectAccessReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "AccessReviewSpec")},
    "AccessReviewSpec": {1: ("resourceAttributes", "ResourceAttributes")},
    "ResourceAttributes": {
        1: ("namespace", "text"),
        2: ("verb", "text"),
        3: ("group", "text"),
        4: ("version", "text"),
        5: ("resource", "text"),
        6: ("subresource", "text"),
        7: ("name", "text"),
    },
    "SelfSubjectRulesReview": {1: ("metadata", "ObjectMeta"), 2: ("spec", "RulesReviewSpec")},
    "RulesReviewSpec": {1: ("namespace", "text")},
}


def decode(body: bytes) -> Obj:
    """The object as JSON would have it. ApiError 415 for a kind unknown here, 400 for what is no message."""
    if not body.startswith(_MAGIC):
        raise ApiError(400, "the body is not in Kubernetes' protobuf form")
    try:
        outer = _message("Unknown", body[len(_MAGIC) :])
        header = outer["typeMeta"]
        if header.get("kind") not in _MESSAGES:
            raise ApiError(415, f"protobuf is not understood for {header.get('kind')}; send JSON")
        return {**header, **_message(header["kind"], outer.get("raw", b""))}
    except (IndexError, KeyError, ValueError) as error:
        raise ApiError(400, f"the body is no protobuf message: {error}") from None


def _message(name: str, data: bytes) -> Obj:
    fields = _MESSAGES[name]
    made: Obj = {}
    for number, value in _fields(data):
        if number not in fields:
            continue
        field, kind = fields[number]
        if kind[0] == "[":
            made.setdefault(field, []).append(_value(kind[1:-1], value))
        elif kind[0] == "{":
            entry = dict(_fields(value))
            made.setdefault(field, {})[_value("text", entry.get(1, b""))] = _value(kind[1:-1], entry.get(2, b""))
        elif value != b"" or kind in _MESSAGES:
            made[field] = _value(kind, value)
    return made


def _value(kind: str, value: Any) -> Any:
    match kind:
        case "text":
            return value.decode()
        case "bytes":
            return base64.b64encode(value).decode()
        case "raw":
            return value
        case "bool":
            return bool(value)
        case "int":
            return value - (1 << 64) if value >> 63 else value
        case "quantity":
            return dict(_fields(value)).get(1, b"0").decode()
        case "int-or-text":
            parts = dict(_fields(value))
            return parts.get(3, b"").decode() if parts.get(1) else parts.get(2, 0)
    return _message(kind, value)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Field numbers and values (int for varints, bytes for the rest) of a message."""
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        match tag & 7:
            case 0:
                value, place = _varint(data, place)
                yield tag >> 3, value
            case 2:
                size, place = _varint(data, place)
                yield tag >> 3, data[place : place + size]
                place += size
            case 1 | 5 as wire:
                place += 8 if wire == 1 else 4
            case wire:
                raise ValueError(f"wire type {wire}")


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
        shift += 7
