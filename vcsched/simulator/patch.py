"""The three patch formats: JSON patch (RFC 6902), JSON merge patch (RFC 7386), Kubernetes' strategic merge.

Pure functions: they return a new object and leave the given one as it is. Strategic merge knows the merge
keys of the lists that the scheduler, kubectl and the stand-ins touch; every other list is replaced whole, as
lists without a patch strategy are.
"""

from __future__ import annotations

import copy
from typing import Any

from vcsched.simulator.errors import ApiError

_MERGE_KEYS = {
    "conditions": ("type",),
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "containerStatuses": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "schedulingGates": ("name",),
    "resourceClaims": ("name",),
    "topologySpreadConstraints": ("topologyKey",),
    "hostAliases": ("ip",),
    "ownerReferences": ("uid",),
    "ports": ("containerPort", "port"),
    "addresses": ("type",),
    "secrets": ("name",),
}
_MERGED_PRIMITIVES = {"finalizers"}
_DIRECTIVES = ("$setElementOrder/", "$deleteFromPrimitiveList/", "$retainKeys", "$patch")


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7386: null removes, objects merge, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    made = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            made.pop(key, None)
        else:
            made[key] = merge_patch(made.get(key), value)
    return made


def strategic_merge(target: Any, patch: dict[str, Any]) -> dict[str, Any]:
    """Kubernetes' strategic merge with the directives that kubectl writes."""
    if patch.get("$patch") == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    made = dict(target) if isinstance(target, dict) else {}
    if "$retainKeys" in patch:
        made = {key: value for key, value in made.items() if key in patch["$retainKeys"]}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            field = key.partition("/")[2]
            made[field] = [each for each in made.get(field) or () if each not in value]
        elif key.startswith(_DIRECTIVES):
            continue
        elif value is None:
            made.pop(key, None)
        elif isinstance(value, dict):
            if value.get("$patch") == "delete":
                made.pop(key, None)
            else:
                made[key] = strategic_merge(made.get(key), value)
        elif isinstance(value, list):
            made[key] = _merge_list(key, made.get(key), value)
        else:
            made[key] = value
    for key, order in patch.items():
        if key.startswith("$setElementOrder/"):
            field = key.partition("/")[2]
            if isinstance(made.get(field), list):
                made[field] = _reorder(field, made[field], order)
    return made


def json_patch(target: Any, operations: Any) -> Any:
    """RFC 6902. ApiError 422 if a path or test does not hold."""
    if not isinstance(operations, list):
        raise ApiError(400, "a JSON patch is a list of operations")
    box = {"": copy.deepcopy(target)}
    for operation in operations:
        kind = operation.get("op")
        steps = _steps(operation.get("path", ""))
        if kind in ("add", "replace"):
            _put(box, steps, copy.deepcopy(operation.get("value")), replace=kind == "replace")
        elif kind == "remove":
            _take(box, steps)
        elif kind == "test":
            if _look(box, steps) != operation.get("value"):
                raise ApiError(422, f"the test operation failed: {operation.get('path')}")
        elif kind == "move":
            _put(box, steps, _take(box, _steps(operation["from"])), replace=False)
        elif kind == "copy":
            _put(box, steps, copy.deepcopy(_look(box, _steps(operation["from"]))), replace=False)
        else:
            raise ApiError(400, f"unknown JSON patch operation {kind!r}")
    return box[""]


# -------------------------------------------------------------------- strategic lists


def _merge_list(field: str, old: Any, new: list[Any]) -> list[Any]:
    if field in _MERGED_PRIMITIVES:
        return [*(old or ()), *(each for each in new if each not in (old or ()))]
    keys = _MERGE_KEYS.get(field)
    if keys is None or not all(isinstance(each, dict) for each in new):
        return new
    if any(each.get("$patch") == "replace" for each in new):
        return [each for each in new if each.get("$patch") != "replace"]
    made = list(old or ())
    for each in new:
        key = next((name for name in keys if name in each), None)
        place = next((i for i, have in enumerate(made) if key and have.get(key) == each[key]), None)
        if each.get("$patch") == "delete":
            if place is not None:
                del made[place]
        elif place is None:
            made.append(strategic_merge({}, each))
        else:
            made[place] = strategic_merge(made[place], each)
    return made


def _reorder(field: str, items: list[Any], order: list[Any]) -> list[Any]:
    keys = _MERGE_KEYS.get(field)
    if keys is None:
        wanted = {each: place for place, each in enumerate(order)}
        return sorted(items, key=lambda item: wanted.get(item, len(wanted)))
    places = {(key, each[key]): place for place, each in enumerate(order) for key in keys if key in each}
    return sorted(
        items,
        key=lambda item: next((places[key, item.get(key)] for key in keys if (key, item.get(key)) in places), 1 << 30),
    )


# -------------------------------------------------------------------- JSON pointers


def _steps(path: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]


def _look(box: Any, steps: list[str]) -> Any:
    try:
        for step in steps:
            box = box[int(step)] if isinstance(box, list) else box[step]
    except (KeyError, IndexError, ValueError, TypeError):
        raise ApiError(422, f"the path {'/'.join(steps)} does not exist") from None
    return box


def _put(box: Any, steps: list[str], value: Any, *, replace: bool) -> None:
    home, last = _look(box, steps[:-1]), steps[-1]
    if replace:
        _look(home, [last])
    try:
        if not isinstance(home, list):
            home[last] = value
        elif replace:
            home[int(last)] = value
        else:
            home.insert(len(home) if last == "-" else int(last), value)
    except (ValueError, TypeError):
        raise ApiError(422, f"nothing can be put at {'/'.join(steps)}") from None


def _take(box: Any, steps: list[str]) -> Any:
    value = _look(box, steps)
    home, last = _look(box, steps[:-1]), steps[-1]
    del home[int(last) if isinstance(home, list) else last]
    return value
