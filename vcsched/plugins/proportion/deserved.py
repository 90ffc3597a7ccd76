"""What each queue deserves: the cluster poured into the queues by weight, as into vessels (spec 05 §7.2).

Each round pours what remains into all queues that are not met yet. A queue takes no more than it asks and
no more than its limit; what it leaves is poured again. It is met when it has all it asks, or when a round
gave it nothing. A guarantee is given in any case, even beyond what is asked, and is not set aside before,
so all together may deserve more than there is.

Numbers are the reference's to the last bit: remaining times (weight / weights), added queue by queue.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from vcsched.columns.space import MEMORY, PODS
from vcsched.columns.table import FloatArray

_ROUNDS = 10_000
"""More rounds than can make a difference; 1,000 queues with random wishes need 20 to 120."""


class Vessels(NamedTuple):
    """The queues that take part, one a column; amounts are float64[C, Q]."""

    weight: FloatArray  # float64[Q]; below 0 counts as 0
    request: FloatArray
    limit: FloatArray
    guarantee: FloatArray


def limits(
    total: FloatArray, guaranteed: FloatArray, guarantee: FloatArray, capability: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """What queues may have at most, float64[C, Q] each: for admission, and where the cluster is poured out.

    `total` and `guaranteed` (the guarantees of all queues together) are float64[C]. A capability of cpu or
    memory that is 0 or less is none. The two differ where guarantees leave nothing of another resource and
    the queue has no guarantee of it: admission takes that for 0, pouring for no limit (spec 05 §1.1, POS
    drops the entry).
    """
    capability = capability.copy()
    always = capability[: MEMORY + 1]
    always[always <= 0] = np.inf
    free = total - guaranteed
    most: FloatArray = np.minimum(np.maximum(free, 0.0)[:, None] + guarantee, capability)
    absent = (free <= 0)[:, None] & (guarantee == 0)
    absent[: MEMORY + 1] = False
    return most, np.where(absent, np.inf, most)


def water_fill(total: FloatArray, queues: Vessels, tolerance: FloatArray) -> FloatArray:
    """float64[C, Q]: what each queue deserves of `total` (float64[C]).

    `tolerance` (float64[C]) is the difference below which amounts count as equal.
    """
    # one row a queue from here on: a sum over rows is taken in their order, and its rounding depends on that
    weight, request, limit, guarantee = (np.ascontiguousarray(part.T) for part in queues)
    weight = np.maximum(weight, 0.0)
    everything = np.zeros_like(request)
    deserved = everything
    unmet = np.arange(len(request))
    matters = np.arange(len(total)) != PODS
    # at first a queue has no entry for any resource but cpu and memory, and getting one is no standstill
    moved = bool(total[PODS:].any()) | guarantee[:, PODS:].any(axis=1)
    remaining = total
    for _ in range(_ROUNDS):
        weights = weight.sum()
        if weights == 0:
            break
        new = deserved + remaining * (weight / weights)[:, None]
        np.minimum(new, limit, out=new)
        np.minimum(new, request, out=new)
        np.maximum(new, guarantee, out=new)
        change = new - deserved
        rest = remaining - np.maximum(change, 0.0).sum(axis=0)
        if (change < 0).any():
            rest = (remaining + np.maximum(-change, 0.0).sum(axis=0)) - np.maximum(change, 0.0).sum(axis=0)
        rest = np.maximum(rest, 0.0)
        met = (request - new < tolerance).all(axis=1) | (~moved & ~change.any(axis=1))
        moved = np.zeros(1, dtype=np.bool_)
        everything[unmet] = deserved = new
        if (rest < tolerance)[matters].all() or (rest == remaining).all():
            break
        remaining = rest
        if met.any():
            left = ~met
            unmet, weight, deserved = unmet[left], weight[left], deserved[left]
            request, limit, guarantee = request[left], limit[left], guarantee[left]
    return everything.T


def shares(held: FloatArray, deserved: FloatArray, tolerance: FloatArray) -> FloatArray:
    """float64[Q]: how much of what it deserves a queue holds, in the resource where that is most."""
    parts = np.zeros_like(held)
    np.divide(held, deserved, out=parts, where=deserved >= tolerance[:, None])
    most: FloatArray = parts.max(axis=0)
    return most
