"""What an admitted job has a claim on: the part of its minimum that it does not hold yet.

A queue must not admit more gangs than it can start, so the minimum of an admitted gang counts as taken
before its pods exist. Pods behind scheduling gates will not come yet; what they ask is not kept for them.
Spec 01 §3.7, spec 05 §1.2.
"""

from __future__ import annotations

from collections.abc import Mapping

from vcsched.kube.keys import CPU, MEMORY
from vcsched.model.algebra import is_empty
from vcsched.model.resources import Amounts

Held = Mapping[str, float]


def reserve(minimum: Held, allocated: Held) -> Amounts:
    """What is missing of a minimum. cpu and memory stay when nothing is, other resources go."""
    missing = {name: max(0.0, amount - allocated.get(name, 0.0)) for name, amount in minimum.items()}
    return {name: amount for name, amount in missing.items() if amount > 0 or name in (CPU, MEMORY)}


def ungate(wanted: Held, gated: Held) -> Amounts:
    """`wanted` without what gated pods ask; nothing changes if those ask for nothing but to be pods."""
    if is_empty(gated):
        return dict(wanted)
    return {name: max(0.0, amount - gated.get(name, 0.0)) for name, amount in wanted.items()}


def elastic(allocated: Held, minimum: Held) -> Amounts:
    """What is held beyond the minimum, and could be given back without breaking the gang."""
    surplus = {name: amount - minimum.get(name, 0.0) for name, amount in allocated.items()}
    return {name: amount for name, amount in surplus.items() if amount > 0}
