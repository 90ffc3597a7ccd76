"""The measured load of a node, as a source of metrics reports it (spec 02 §18)."""

from __future__ import annotations

from typing import NamedTuple

FRESH_S = 300.0
"""Older measurements say nothing about now."""


class NodeLoad(NamedTuple):
    """Percent of the machine in use, as a mean over some minutes; `measured` is a unix time."""

    cpu: float
    memory: float
    measured: float

    def is_fresh(self, now: float) -> bool:
        return now - self.measured <= FRESH_S
