"""Small values of the dump: lines of JSON as the reference writes them, and resource amounts.

Keys are sorted, `<`, `>` and `&` escaped, sets are objects with empty objects as values (spec 02 §19).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from vcsched.columns.space import Space
from vcsched.columns.table import FloatArray
from vcsched.kube.keys import PODS
from vcsched.kube.objects import ObjectMeta
from vcsched.model import resources
from vcsched.model.quantity import QuantityError
from vcsched.model.resources import CPU, MEMORY, Amounts

_encoder = msgspec.json.Encoder(order="sorted")
_ESCAPED = {b"<": b"\\u003c", b">": b"\\u003e", b"&": b"\\u0026"}

REPEATS_THE_OBJECT = "last-applied-configuration"
"""Annotations of this kind hold the whole object, with whatever secrets stand in its environment."""


def encode(value: Any) -> bytes:
    """One document and the end of its line."""
    return _escaped(_encoder.encode(value)) + b"\n"


def encode_map(items: Iterable[tuple[str, Any]]) -> Iterator[bytes]:
    """A document that is a large map, in pieces; the keys must come sorted."""
    opening = b"{"
    for key, value in items:
        yield opening + _escaped(_encoder.encode(key) + b":" + _encoder.encode(value))
        opening = b","
    yield b"}\n" if opening == b"," else b"{}\n"


def _escaped(line: bytes) -> bytes:
    for plain, written in _ESCAPED.items():
        line = line.replace(plain, written)
    return line


def as_set(members: Iterable[str]) -> dict[str, dict[str, Any]]:
    return {member: {} for member in members}


def wire(obj: Any) -> Any:
    """An API object as plain values, as far as it is read, without annotations that repeat it."""
    plain = msgspec.to_builtins(obj)
    if isinstance(plain.get("metadata"), dict):
        plain["metadata"]["annotations"] = annotations_of(obj.metadata)
    return plain


def annotations_of(meta: ObjectMeta) -> dict[str, str]:
    return {key: value for key, value in meta.annotations.items() if not key.endswith(REPEATS_THE_OBJECT)}


class Resources:
    """Amounts in the reference's form and units."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def of(self, amounts: Mapping[str, float]) -> dict[str, Any]:
        """Amounts by name."""
        scalars = {name: a * resources.scale(name) for name, a in amounts.items() if name not in (CPU, MEMORY)}
        return {
            "MilliCPU": amounts.get(CPU, 0.0),
            "Memory": amounts.get(MEMORY, 0.0),
            "ScalarResources": scalars or None,
            "MaxTaskNum": int(amounts.get(PODS, 0.0)),
        }

    def row(self, column: FloatArray, row: int) -> dict[str, Any]:
        """The non-zero amounts of one row of a table's column."""
        return self.of({name: float(column[c, row]) for c, name in enumerate(self._space.names) if column[c, row]})

    def listed(self, quantities: Mapping[str, Any] | None) -> dict[str, Any]:
        """A resource list of an API object; one that cannot be read counts as empty."""
        return self.of(readable(quantities or {}))


def readable(quantities: Mapping[str, Any]) -> Amounts:
    try:
        return resources.amounts(quantities)
    except QuantityError:
        return {}
