"""A queue (spec 01 §6)."""

from __future__ import annotations

from .resources import from_list
from .selectors import Object, annotation, created


class Queue:
    """The spec of one Queue object; shares are the plugins' business."""

    def __init__(self, obj: Object) -> None:
        spec = obj.get("spec") or {}
        self.obj, self.name = obj, obj["metadata"]["name"]
        self.weight = spec.get("weight", 0)
        self.priority = spec.get("priority") or 0
        self.created = created(obj)
        self.state = (obj.get("status") or {}).get("state", "")
        self.capability = from_list(spec["capability"]) if spec.get("capability") else None
        self.deserved = from_list(spec.get("deserved"))
        self.guarantee = from_list((spec.get("guarantee") or {}).get("resource"))
        reclaimable = spec.get("reclaimable", True)
        self.reclaimable = True if reclaimable is None else reclaimable
        self.parent = spec.get("parent") or ""
        self.hierarchy = annotation(obj, "volcano.sh/hierarchy") or ""
        self.hierarchy_weights = annotation(obj, "volcano.sh/hierarchy-weights") or ""

    @property
    def is_open(self) -> bool:
        return bool(self.state == "Open")
