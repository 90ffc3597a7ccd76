"""Arithmetic and comparison of amounts, one object at a time, with presence.

Queues, jobs and their shares are compared here by name; what is asked of many rows at once is done on
columns instead. Each function says what an absent resource means, because the rules differ: some count
it as 0, some as "no limit". Unlike the system being replaced, amounts without any scalar and amounts
whose scalars were never set are the same thing (spec 01 §15 no. 5).

Nothing here changes its arguments, except `add_into`. Comparisons that say "about" forgive a
difference below the tolerance of the resource, which matters for fractional shares only; the others are
exact. Spec 01 §1.4-1.5, spec 05 §1.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache

from vcsched.kube.keys import CPU, MEMORY, PODS
from vcsched.model.resources import Amounts, in_order, scale

Held = Mapping[str, float]
_ALWAYS = (CPU, MEMORY)


class Missing(Enum):
    """What a scalar stands for where it is absent."""

    ZERO = "zero"
    INFINITY = "infinity"


ZERO = Missing.ZERO
INFINITY = Missing.INFINITY
_NO_LIMIT = -1.0
"""How `diff` writes an absent amount that counts as infinite."""


@lru_cache(maxsize=4096)
def tolerance(name: str) -> float:
    """Differences below this are none; 0.1 in the specification's unit."""
    return 0.1 / scale(name)


# ---------------------------------------------------------------- arithmetic


def add(left: Held, right: Held) -> Amounts:
    """Sum; has every resource of either."""
    total = dict(left)
    add_into(total, right)
    return total


def add_into(total: Amounts, more: Held) -> None:
    """Add `more` to `total` in place."""
    for name, amount in more.items():
        total[name] = total.get(name, 0.0) + amount


def sub(left: Held, right: Held) -> Amounts:
    """Difference; has every resource of either, and may be negative."""
    rest = dict(left)
    for name, amount in right.items():
        rest[name] = rest.get(name, 0.0) - amount
    return rest


def multi(held: Held, factor: float) -> Amounts:
    """Every amount times `factor`."""
    return {name: amount * factor for name, amount in held.items()}


def set_max(left: Held, right: Held) -> Amounts:
    """The larger of each; a scalar that only one side has is taken as it is."""
    top = dict(left)
    for name, amount in right.items():
        if name in _ALWAYS:
            top[name] = max(top.get(name, 0.0), amount)
        elif name not in top or amount > top[name]:
            top[name] = amount
    return top


def max_(left: Held, right: Held) -> Amounts:
    """The larger of each over all resources of either; negative scalars are left out."""
    top: Amounts = {}
    for name in _union(left, right):
        both = [side[name] for side in (left, right) if name in side]
        if name in _ALWAYS:
            top[name] = max(left.get(name, 0.0), right.get(name, 0.0))
        elif any(amount >= 0 for amount in both):
            top[name] = max(both)
    return top


def min_(left: Held, right: Held) -> Amounts:
    """The smaller of each of `left`'s resources, absent counting as 0; no scalars if `right` has none."""
    bottom = _min_always(left, right)
    if scalars(right):
        bottom.update((name, min(left[name], right.get(name, 0.0))) for name in scalars(left))
    return bottom


def min_dimension(left: Held, right: Held, missing: Missing) -> Amounts:
    """`left` capped by `right`. A scalar that `right` lacks stays with INFINITY and is 0 with ZERO."""
    capped = _min_always(left, right)
    for name in scalars(left):
        if name in right:
            capped[name] = min(left[name], right[name])
        else:
            capped[name] = left[name] if missing is INFINITY else 0.0
    return capped


def diff(left: Held, right: Held, missing: Missing) -> tuple[Amounts, Amounts]:
    """What `left` has more and what it has less than `right`; each resource is in one of the two only.

    With INFINITY a scalar that one side lacks is without limit there, written as -1.
    """
    more: Amounts = {}
    less: Amounts = {}
    default = 0.0 if missing is ZERO else _NO_LIMIT
    for name in in_order(_union(left, right)):
        fallback = 0.0 if name in _ALWAYS else default
        here, there = left.get(name, fallback), right.get(name, fallback)
        if name not in _ALWAYS and missing is INFINITY and _NO_LIMIT in (here, there):
            (more if here == _NO_LIMIT else less)[name] = _NO_LIMIT
        elif here > there:
            more[name] = here - there
        else:
            less[name] = there - here
    return more, less


def exceeded_part(left: Held, right: Held) -> Amounts:
    """By how much `left` exceeds `right`; what does not exceed is absent."""
    return diff(left, right, ZERO)[0]


def share(part: float, whole: float) -> float:
    """`part` of `whole`; of nothing, nothing is 0 and anything is 1."""
    if whole == 0:
        return 0.0 if part == 0 else 1.0
    return part / whole


# ---------------------------------------------------------------- names


def scalars(held: Held) -> list[str]:
    """All resources but cpu and memory, in order."""
    return sorted(name for name in held if name not in _ALWAYS)


def names(held: Held) -> list[str]:
    """Resources with more than nothing, in order."""
    return [name for name in in_order(held) if held[name] >= tolerance(name)]


def intersection(left: Held, right: Held, *, with_pods: bool = True) -> list[str]:
    """Resources of which both have more than nothing, in order."""
    here = set(names(left))
    return [name for name in names(right) if name in here and (with_pods or name != PODS)]


def is_empty(held: Held) -> bool:
    """Whether there is nothing of anything, pods aside."""
    return all(name == PODS or amount < tolerance(name) for name, amount in held.items())


# ---------------------------------------------------------------- comparison


def equal(left: Held, right: Held) -> bool:
    """Whether cpu, memory and `left`'s scalars are about the same in `right`."""
    return all(abs(left.get(name, 0.0) - right.get(name, 0.0)) < tolerance(name) for name in _with_always(left))


def less_equal(left: Held, right: Held, missing: Missing) -> bool:
    """Whether `left` is at most about `right` in every resource.

    A scalar that `right` lacks is 0 with ZERO and never in the way with INFINITY; with INFINITY a scalar
    that `left` lacks is without limit there, hence too much.
    """
    if missing is INFINITY and any(name not in left for name in scalars(right)):
        return False
    return not less_equal_names(left, right, missing)


def less_equal_names(left: Held, right: Held, missing: Missing) -> list[str]:
    """The resources in which `left` is more than about `right`, in order; scalars of `left` only."""
    offenders = []
    for name in _with_always(left):
        if name not in _ALWAYS and name not in right and missing is INFINITY:
            continue
        if not _about_at_most(left, right, name):
            offenders.append(name)
    return offenders


def less_equal_dim(left: Held, right: Held, asked: Held | None) -> list[str]:
    """The resources (not pods) that are `asked` for and in which `left` exceeds `right`, exactly.

    Without `asked` all resources of `left` are looked at, about.
    """
    if asked is None:
        return less_equal_names(left, right, ZERO)
    return _greater(left, right, _wanted(asked))


def less_partly(left: Held, right: Held, missing: Missing) -> bool:
    """Whether `left` is less than `right` in some resource.

    A scalar that only `right` has decides so with ZERO, one that only `left` has with INFINITY.
    """
    if any(left.get(name, 0.0) < right.get(name, 0.0) for name in _with_always(left)):
        return True
    there, here = (left, right) if missing is ZERO else (right, left)
    return any(name not in there for name in scalars(here))


def less_equal_partly_dim(left: Held, right: Held, asked: Held | None) -> list[str]:
    """The resources (not pods) that are `asked` for and in which `left` is at most about `right`."""
    return [name for name in _wanted(asked or {}) if _about_at_most(left, right, name)]


def less_equal_partly_dim_zero_filtered(left: Held, right: Held, asked: Held | None) -> list[str]:
    """As `less_equal_partly_dim`, passing over resources of which neither side has anything."""
    return [
        name
        for name in less_equal_partly_dim(left, right, asked)
        if left.get(name, 0.0) >= tolerance(name) or right.get(name, 0.0) >= tolerance(name)
    ]


def greater_partly_dim(left: Held, right: Held, asked: Held | None) -> list[str]:
    """The resources (not pods) that are `asked` for and in which `left` exceeds `right`, exactly."""
    return _greater(left, right, _wanted(asked or {}))


def greater_partly_dim_relevant(left: Held, right: Held, asked: Held | None) -> list[str]:
    """As `greater_partly_dim`, for resources that `right` has: cpu and memory above 0, scalars at all."""
    relevant = [
        name
        for name in _wanted(asked or {})
        if (right.get(name, 0.0) >= tolerance(name) if name in _ALWAYS else name in right)
    ]
    return _greater(left, right, relevant)


def _about_at_most(left: Held, right: Held, name: str) -> bool:
    here, there = left.get(name, 0.0), right.get(name, 0.0)
    return here <= there or here - there < tolerance(name)


def _greater(left: Held, right: Held, among: Iterable[str]) -> list[str]:
    return [name for name in among if left.get(name, 0.0) > right.get(name, 0.0)]


def _wanted(asked: Held) -> list[str]:
    return [name for name in in_order(asked) if asked[name] > 0 and name != PODS]


def _with_always(held: Held) -> list[str]:
    return [*_ALWAYS, *scalars(held)]


def _union(left: Held, right: Held) -> list[str]:
    return [*left, *(name for name in right if name not in left)]


def _min_always(left: Held, right: Held) -> Amounts:
    return {name: min(left.get(name, 0.0), right.get(name, 0.0)) for name in _ALWAYS}
