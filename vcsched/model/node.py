"""A node: its API object, its row, and the tasks on it (spec 01 §5). Sums are columns of the node table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vcsched.kube.objects import Node as NodeObject
    from vcsched.model.task import Task


class Node:
    """`tasks` holds every task that takes room here or is promised room, by uid, also of other schedulers."""

    __slots__ = ("name", "obj", "row", "tasks")

    def __init__(self, obj: NodeObject, row: int) -> None:
        self.name = obj.metadata.name
        self.obj = obj
        self.row = row
        self.tasks: dict[str, Task] = {}

    @property
    def labels(self) -> dict[str, str]:
        return self.obj.metadata.labels

    def __repr__(self) -> str:
        return f"Node({self.name})"
