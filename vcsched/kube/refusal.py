"""Objects that cannot be read: what can still be said about them.

The API server's schema keeps most nonsense out, but not all (a CRD without a schema, a newer API). Such an
object costs one clear sentence and nothing else: its name, the field, the value found there.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec

from vcsched.kube.objects import Object, ObjectMeta

O = TypeVar("O", bound=Object)  # noqa: E741

_NAMED = msgspec.json.Decoder(Object)
_NAMES = ("name", "namespace", "uid", "resourceVersion")
_READ_BY_FILTERS = ("schedulerName", "nodeName")


def meta_of(raw: msgspec.Raw | bytes) -> ObjectMeta:
    """Name, UID and version, though perhaps nothing else can be read; empty if not even these can."""
    try:
        return _NAMED.decode(raw).metadata
    except msgspec.DecodeError:
        return msgspec.convert(_texts(_plain(raw).get("metadata"), _NAMES), ObjectMeta)


def name_of(meta: ObjectMeta) -> str:
    """ "namespace/name", or "name"."""
    return f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name


def skeleton(kind: type[O], raw: msgspec.Raw | bytes, meta: ObjectMeta) -> O:
    """As much of the object as a filter needs: its name, and for pods whose it is and where."""
    spec = _texts(_plain(raw).get("spec"), _READ_BY_FILTERS)
    made = msgspec.convert({"spec": spec} if spec else {}, kind)
    return msgspec.structs.replace(made, metadata=meta)


def explain(error: msgspec.DecodeError, raw: msgspec.Raw | bytes) -> str:
    """What is wrong where, as `spec.minMember is "x": expected int, got str (ignored until changed)`."""
    text, _, where = str(error).replace("`", "").partition(" - at ")
    place = where.removeprefix("key in ").removeprefix("$").removeprefix(".")
    text = text[:1].lower() + text[1:]
    if not place:
        return f"{text} (ignored until changed)"
    return f"{place}{_found(raw, place)}: {text} (ignored until changed)"


def _found(raw: msgspec.Raw | bytes, place: str) -> str:
    """ " is <value>", or nothing if the place is inside a list or map, which the decoder does not number."""
    value: Any = _plain(raw)
    if not re.fullmatch(r"\w+(\.\w+)*", place):
        return ""
    for name in place.split("."):
        if not isinstance(value, dict) or name not in value:
            return ""
        value = value[name]
    return f" is {msgspec.json.encode(value)[:60].decode('utf-8', 'replace')}"


def _plain(raw: msgspec.Raw | bytes) -> dict[str, Any]:
    try:
        value = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def _texts(value: Any, names: tuple[str, ...]) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: value[name] for name in names if isinstance(value.get(name), str)}
