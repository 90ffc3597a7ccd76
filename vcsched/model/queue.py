"""A queue: a share of the cluster that jobs are charged to (spec 01 §6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vcsched.kube.objects import Queue as QueueObject
    from vcsched.model.job import Job

OPEN = "Open"
ROOT = "root"


class Queue:
    """`row` is its row in the queue table, `obj` the API object, `jobs` the jobs attached to it by key."""

    __slots__ = ("created", "jobs", "name", "obj", "row", "uid")

    def __init__(self, obj: QueueObject, row: int) -> None:
        self.name = obj.metadata.name
        self.row = row
        self.jobs: dict[str, Job] = {}
        self.replace(obj)

    def replace(self, obj: QueueObject) -> None:
        """Take a newer version of the API object."""
        self.obj = obj
        self.uid = obj.metadata.uid
        self.created = obj.metadata.creation_timestamp.timestamp() if obj.metadata.creation_timestamp else 0.0

    @property
    def priority(self) -> int:
        return self.obj.spec.priority

    @property
    def weight(self) -> int:
        return self.obj.spec.weight

    @property
    def reclaimable(self) -> bool:
        """Unset means yes."""
        return self.obj.spec.reclaimable is not False

    def is_open(self, stateless_is_closed: bool) -> bool:
        """Whether work may enter; a queue without a state counts as open unless the reference's rule is on."""
        state = self.obj.status.state
        return state == OPEN or (not state and not stateless_is_closed)

    def __repr__(self) -> str:
        return f"Queue({self.name})"
