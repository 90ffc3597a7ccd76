"""The shape all wire structs share, the metadata of objects, and label selectors.

A wire struct names only what the scheduler reads; everything else in an object is skipped by the decoder.
Structs are frozen: the I/O side keeps the last one it passed on, to tell a real change from a heartbeat,
and the session side keeps it too, so neither may change it (use `msgspec.structs.replace`).

Names are the snake_case of the API's names, with two abbreviations: `required` and `preferred` stand for
`requiredDuringSchedulingIgnoredDuringExecution` and `preferred…`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeVar

import msgspec

Quantity = str | int | float
"""A Kubernetes quantity as written; `model.quantity` reads it."""

Quantities = dict[str, Quantity]
"""Resource name -> quantity as written."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

S = TypeVar("S")


class Wire(msgspec.Struct, frozen=True, rename="camel", kw_only=True, gc=False):
    """Base of all wire structs."""


def part(kind: type[S]) -> S:
    """A nested struct that is never null: missing on the wire means its zero value."""
    made: Any = msgspec.field(default_factory=kind)
    return made  # type: ignore[no-any-return]


class OwnerReference(Wire, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(Wire, frozen=True, kw_only=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()


class Object(Wire, frozen=True, kw_only=True):
    """A top-level API object."""

    metadata: ObjectMeta = part(ObjectMeta)


class LabelSelectorRequirement(Wire, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Wire, frozen=True, kw_only=True):
    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
