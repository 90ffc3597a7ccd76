"""Laying our fields into a fresh object, for a PUT where the role forbids patch, and after a conflict.

Each function changes the raw object in place and says whether anything changed; what is not ours stays as
it was found (spec 08 §0.1, §2.7).
"""

from __future__ import annotations

from typing import Any

from vcsched.kube.bodies import condition
from vcsched.kube.link import Evict, PodGroupStatus, PodStatus

Raw = dict[str, Any]


def pod_status(raw: Raw, write: PodStatus | Evict, now: str) -> bool:
    """Conditions by type, the transition time kept while the status stays; and the nominated node."""
    status = _child(raw, "status")
    conditions: list[Raw] = _list(status, "conditions")
    changed = False
    for wanted in write.conditions:
        ours = condition(wanted)
        found = next((c for c in conditions if c.get("type") == wanted.type), None)
        if found is None:
            conditions.append({**ours, "lastTransitionTime": now})
            changed = True
        elif any(found.get(name) != value for name, value in ours.items()):
            if found.get("status") != wanted.status:
                found["lastTransitionTime"] = now
            found.update(ours)
            changed = True
    nominated = getattr(write, "nominated", None)
    if nominated is not None and (status.get("nominatedNodeName") or "") != nominated:
        if nominated:
            status["nominatedNodeName"] = nominated
        else:
            del status["nominatedNodeName"]
        changed = True
    return changed


def podgroup(raw: Raw, write: PodGroupStatus) -> bool:
    """Status fields and annotations; conditions of types of which we say nothing new stay as they are."""
    status = _child(raw, "status")
    changed = False
    for name, value in write.status.items():
        wanted = value
        if name == "conditions":
            news = [each for each in value if each.get("type") in write.said]
            wanted = merged_conditions(_list(status, name), news)
        if status.get(name) != wanted:
            status[name] = wanted
            changed = True
    if write.annotations:
        annotations = _child(_child(raw, "metadata"), "annotations")
        for name, value in write.annotations.items():
            if annotations.get(name) != value:
                annotations[name] = value
                changed = True
    return changed


def queue(raw: Raw, allocated: dict[str, str]) -> bool:
    status = _child(raw, "status")
    if status.get("allocated") == allocated:
        return False
    status["allocated"] = allocated
    return True


def merged_conditions(found: list[Raw], ours: list[Raw]) -> list[Raw]:
    """Ours in the place of those of the same type, new ones at the end."""
    by_type = {c.get("type"): c for c in ours}
    kept = [by_type.pop(c.get("type"), c) for c in found]
    return kept + list(by_type.values())


def _child(raw: Raw, name: str) -> Raw:
    child = raw.get(name)
    if not isinstance(child, dict):
        child = raw[name] = {}
    return child


def _list(raw: Raw, name: str) -> list[Raw]:
    child = raw.get(name)
    if not isinstance(child, list):
        child = raw[name] = []
    return child
