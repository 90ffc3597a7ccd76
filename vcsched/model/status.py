"""Task statuses and the answers that filters give (spec 01 §2.6, §10).

Statuses are small integers, so that they index lists of counts; `DUMP_CODE` has the numbers of the
reference's dump. A `Fit` says why one task does not fit one node.
"""

from __future__ import annotations

from typing import NamedTuple

PENDING, ALLOCATED, PIPELINED, BINDING, BOUND, RUNNING, RELEASING, SUCCEEDED, FAILED, UNKNOWN = range(10)
STATUSES = 10

NAMES = (
    "Pending", "Allocated", "Pipelined", "Binding", "Bound",
    "Running", "Releasing", "Succeeded", "Failed", "Unknown",
)  # fmt: skip
DUMP_CODE = tuple(1 << status for status in range(STATUSES))

HOLDING = frozenset({ALLOCATED, BINDING, BOUND, RUNNING})  # "allocated class" of the spec
TERMINATED = frozenset({SUCCEEDED, FAILED})
EVICTABLE = frozenset({BOUND, RUNNING})

# Codes of a filter's answer. UNSCHEDULABLE: an eviction may help; UNRESOLVABLE: it cannot.
SUCCESS, ERROR, UNSCHEDULABLE, UNRESOLVABLE, WAIT, SKIP = range(6)
CODE_NAMES = ("Success", "Error", "Unschedulable", "UnschedulableAndUnresolvable", "Wait", "Skip")


class Fit(NamedTuple):
    """One reason why a task does not fit; `None` instead of a `Fit` means that it fits."""

    code: int
    reason: str

    @staticmethod
    def unschedulable(reason: str) -> Fit:
        """It does not fit now; evicting pods from the node may help."""
        return Fit(UNSCHEDULABLE, reason)

    @staticmethod
    def unresolvable(reason: str) -> Fit:
        """It does not fit, whoever is evicted."""
        return Fit(UNRESOLVABLE, reason)

    @staticmethod
    def error(reason: str) -> Fit:
        """It could not be found out; counts as not fitting."""
        return Fit(ERROR, reason)
