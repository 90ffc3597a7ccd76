"""Counting rules of gangs: ready, waiting, valid, scheduled (spec 01 §3.5-3.6).

All functions take `counts`: tasks per status, and in the last place the pending tasks whose request is empty.
"""

from __future__ import annotations

from collections.abc import Sequence

from vcsched.model.status import (
    ALLOCATED,
    BINDING,
    BOUND,
    FAILED,
    PENDING,
    PIPELINED,
    RUNNING,
    STATUSES,
    SUCCEEDED,
)  # fmt: skip

Counts = Sequence[int]


def holding(counts: Counts) -> int:
    """Tasks that hold room on a node for this scheduler."""
    return counts[ALLOCATED] + counts[BINDING] + counts[BOUND] + counts[RUNNING]


def ready(counts: Counts) -> int:
    """Tasks that count for the minimum: holding or succeeded."""
    return counts[BOUND] + counts[BINDING] + counts[RUNNING] + counts[ALLOCATED] + counts[SUCCEEDED]


def counted(counts: Counts) -> int:
    """Those that count for the minimum: `ready`, written out for many callers, and pending ones that ask nothing."""
    return counts[BOUND] + counts[BINDING] + counts[RUNNING] + counts[ALLOCATED] + counts[SUCCEEDED] + counts[STATUSES]


def waiting(counts: Counts) -> int:
    """Tasks promised room that is being freed."""
    return counts[PIPELINED]


def valid(counts: Counts) -> int:
    """Tasks that are or can still become part of the gang."""
    return ready(counts) + counts[PIPELINED] + counts[PENDING]


def scheduled(counts: Counts) -> int:
    """Tasks that have been on a node and are not going."""
    return counts[RUNNING] + counts[BOUND] + counts[FAILED] + counts[SUCCEEDED]


def completed(counts: Counts) -> int:
    return counts[FAILED] + counts[SUCCEEDED]
