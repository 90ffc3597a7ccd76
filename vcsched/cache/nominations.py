"""Nominations: the node that a pending pod was promised (spec 04 §10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vcsched.model.task import Task


def promised_node(task: Task) -> str:
    """The name, "" for none: as last written, also where the watch has not shown it yet."""
    said = task.marked
    return str(said.nominated if said is not None else task.pod.status.nominated_node_name)
