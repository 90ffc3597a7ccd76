"""What each queue deserves: the cluster poured into the queues by weight, as into vessels (spec 05 §7.2).

Each round pours what remains into all queues that are not met yet. A queue takes no more than it asks and
no more than its limit; what it leaves is poured again. It is met when it has all it asks, or when a round
gave it nothing. A guarantee is given in any case, even beyond what is asked, and is not set aside before,
so all together may deserve more than there is.

Numbers are the reference's to the last bit: remaining times (weight / weights), in the order of the rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vcsched.columns.space import MEMORY, PODS
from vcsched.columns.table import FloatArray

_ROUNDS = 10_000
"""More rounds than can make a difference; 1,000 queues with random wishes need about 20."""


class Vessels(NamedTuple):
    """The queues that take part, one a column; amounts are float64[C, Q]."""

    weight: FloatArray  # float64[Q]; below 0 counts as 0
    request: FloatArray
    limit: FloatArray
    guarantee: FloatArray


def limits(total: FloatArray, guaranteed: FloatArray, guarantee: FloatArray, capability: FloatArray) -> FloatArray:
    """float64[C, Q]: the most a queue may have, so that all guarantees can be kept.

    `guaranteed` is float64[C], the guarantees of all queues together. A capability of cpu or memory that is
    0 or less is none.
    """
    capability = capability.copy()
    always = capability[: MEMORY + 1]
    always[always <= 0] = np.inf
    free = np.maximum(total - guaranteed, 0.0)
    most: FloatArray = np.minimum(free[:, None] + guarantee, capability)
    return most


def water_fill(total: FloatArray, queues: Vessels, tolerance: FloatArray) -> FloatArray:
    """float64[C, Q]: what each queue deserves of `total` (float64[C]).

    `tolerance` (float64[C]) is the difference below which amounts count as equal.
    """
    deserved = np.zeros_like(queues.request)
    weight = np.maximum(queues.weight, 0.0)
    matters = np.arange(len(total)) != PODS
    # at first a queue has no entry for any resource but cpu and memory, and getting one is no standstill
    moved = bool(total[PODS:].any()) | queues.guarantee[PODS:].any(axis=0)
    remaining = total
    unmet = np.arange(deserved.shape[1])
    for _ in range(_ROUNDS):
        weights = weight[unmet].sum()
        if weights == 0:
            break
        old = deserved[:, unmet]
        request = queues.request[:, unmet]
        new = old + remaining[:, None] * (weight[unmet] / weights)
        np.minimum(new, queues.limit[:, unmet], out=new)
        np.minimum(new, request, out=new)
        np.maximum(new, queues.guarantee[:, unmet], out=new)
        deserved[:, unmet] = new
        satisfied = (request - new < tolerance[:, None]).all(axis=0)
        stuck = (new == old).all(axis=0) & ~moved
        moved = np.zeros(1, dtype=np.bool_)
        rest = np.maximum(remaining + _sum(np.maximum(old - new, 0.0)) - _sum(np.maximum(new - old, 0.0)), 0.0)
        if (rest < tolerance)[matters].all() or (rest == remaining).all():
            break
        remaining = rest
        unmet = unmet[~(satisfied | stuck)]
    return deserved


def _sum(amounts: FloatArray) -> FloatArray:
    """Row by row, since the rounding of a sum depends on its order."""
    summed: FloatArray = np.add.accumulate(amounts, axis=1)[:, -1]
    return summed


def shares(held: FloatArray, deserved: FloatArray, tolerance: FloatArray) -> FloatArray:
    """float64[Q]: how much of what it deserves a queue holds, in the resource where that is most."""
    parts = np.zeros_like(held)
    np.divide(held, deserved, out=parts, where=deserved >= tolerance[:, None])
    most: FloatArray = parts.max(axis=0)
    return most
