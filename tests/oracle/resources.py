"""Resource vectors and their algebra (spec 01 §1, 05 §1.1).

cpu is in milli, memory in bytes, `pods` in whole units, every other scalar in milli of the quantity. The
scalar map may be absent altogether (`None`), which several rules tell apart from an empty one. The short
names of spec 05 §1.1 (LE, FIT, POS …) are given in the docstrings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .quantity import milli, whole

EPSILON = 0.1
LARGEST_FLOAT = 1.7976931348623157e308
LARGEST_INT = float(2**63 - 1)


class Resources:
    """An amount of cpu, memory and scalar resources."""

    __slots__ = ("cpu", "memory", "scalars")

    def __init__(self, cpu: float = 0.0, memory: float = 0.0, scalars: dict[str, float] | None = None) -> None:
        self.cpu, self.memory, self.scalars = cpu, memory, scalars

    def __repr__(self) -> str:
        return f"Resources({self.cpu:g}, {self.memory:g}, {self.scalars})"

    def clone(self) -> Resources:
        return Resources(self.cpu, self.memory, None if self.scalars is None else dict(self.scalars))

    def get(self, name: str) -> float:
        """The amount of one dimension, 0 if it is absent."""
        if name == "cpu":
            return self.cpu
        if name == "memory":
            return self.memory
        return (self.scalars or {}).get(name, 0.0)

    def set(self, name: str, amount: float) -> None:
        if name == "cpu":
            self.cpu = amount
        elif name == "memory":
            self.memory = amount
        else:
            if self.scalars is None:
                self.scalars = {}
            self.scalars[name] = amount

    def add(self, other: Resources) -> Resources:
        """Add in place; returns itself."""
        self.cpu += other.cpu
        self.memory += other.memory
        for name, amount in (other.scalars or {}).items():
            if self.scalars is None:
                self.scalars = {}
            self.scalars[name] = self.scalars.get(name, 0.0) + amount
        return self

    def subtract(self, other: Resources) -> Resources:
        """Subtract in place without a check; an absent scalar map stays absent (spec 01 §1.4)."""
        self.cpu -= other.cpu
        self.memory -= other.memory
        if self.scalars is not None:
            for name, amount in (other.scalars or {}).items():
                self.scalars[name] = self.scalars.get(name, 0.0) - amount
        return self

    def times(self, factor: float) -> Resources:
        scalars = None
        if self.scalars is not None:
            scalars = {name: amount * factor for name, amount in self.scalars.items()}
        return Resources(self.cpu * factor, self.memory * factor, scalars)

    def dimensions(self) -> list[str]:
        """cpu, memory and the scalar keys, in that order."""
        return ["cpu", "memory", *sorted(self.scalars or {})]

    def names(self) -> list[str]:
        """Dimensions that hold anything (`names`)."""
        return [name for name in self.dimensions() if self.get(name) >= EPSILON]

    def is_empty(self) -> bool:
        """Nothing but `pods` (`empty`)."""
        return all(self.get(name) < EPSILON for name in self.dimensions() if name != "pods")

    def equals(self, other: Resources) -> bool:
        same_basics = self.cpu == other.cpu and self.memory == other.memory
        return same_basics and (self.scalars or {}) == (other.scalars or {})

    def has(self, name: str) -> bool:
        """Whether the dimension counts as present (the "has" of `GTREL`)."""
        return self.get(name) >= EPSILON if name in ("cpu", "memory") else name in (self.scalars or {})


def is_scalar(name: str) -> bool:
    """Whether a resource name becomes a scalar dimension (spec 01 §1.3)."""
    if "kubernetes.io/" in name or name.startswith(("hugepages-", "attachable-volumes-")):
        return True
    return "/" in name and not name.startswith("requests.")


def from_list(resource_list: Mapping[str, object] | None) -> Resources:
    """A Kubernetes resource list as a vector (spec 01 §1.3)."""
    result = Resources()
    for name, text in (resource_list or {}).items():
        if name == "cpu":
            result.cpu += milli(text)
        elif name == "memory":
            result.memory += whole(text)
        elif name == "pods":
            result.set("pods", result.get("pods") + whole(text))
        elif name.startswith("count/"):
            continue
        elif name == "ephemeral-storage" or is_scalar(name):
            result.set(name, result.get(name) + milli(text))
    return result


def plus(left: Resources, right: Resources) -> Resources:
    return left.clone().add(right)


def minus(left: Resources, right: Resources) -> Resources:
    return left.clone().subtract(right)


def total_of(amounts: Iterable[Resources]) -> Resources:
    result = Resources()
    for amount in amounts:
        result.add(amount)
    return result


def within(left: float, right: float) -> bool:
    """Less, or equal but for the tolerance."""
    return left < right or abs(left - right) < EPSILON


def fits(request: Resources, room: Resources) -> bool:
    """Every dimension of the request is within the room (`LE`)."""
    return not lacking(request, room)


def lacking(request: Resources, room: Resources) -> list[str]:
    """Dimensions of the request that are not within the room."""
    return [name for name in request.dimensions() if not within(request.get(name), room.get(name))]


def over_limit(amount: Resources, limit: Resources, request: Resources) -> list[str]:
    """Requested dimensions whose amount exceeds the limit, exactly; none means it fits (`FIT`)."""
    offending = []
    for name in request.dimensions():
        if name == "pods" or request.get(name) <= 0:
            continue
        if name not in ("cpu", "memory") and amount.scalars is None:
            continue
        if amount.get(name) > limit.get(name):
            offending.append(name)
    return offending


def positive_part(left: Resources, right: Resources) -> Resources:
    """left - right, floored at 0; a scalar that is not positive disappears (`POS`)."""
    result = Resources(max(0.0, left.cpu - right.cpu), max(0.0, left.memory - right.memory), {})
    for name in set(left.scalars or {}) | set(right.scalars or {}):
        if left.get(name) > right.get(name):
            result.set(name, left.get(name) - right.get(name))
    return result


def minimum_absent_unlimited(left: Resources, right: Resources) -> Resources:
    """Minimum; a scalar that the right side lacks stays (`MINinf`)."""
    scalars = None
    if left.scalars is not None:
        other = right.scalars or {}
        scalars = {name: min(amount, other.get(name, amount)) for name, amount in left.scalars.items()}
    return Resources(min(left.cpu, right.cpu), min(left.memory, right.memory), scalars)


def minimum_absent_zero(left: Resources, right: Resources) -> Resources:
    """Minimum; a scalar that the right side lacks becomes 0 (`MIN0`)."""
    scalars = None
    if left.scalars is not None:
        other = right.scalars or {}
        scalars = {name: min(amount, other[name]) if name in other else 0.0 for name, amount in left.scalars.items()}
    return Resources(min(left.cpu, right.cpu), min(left.memory, right.memory), scalars)


def maximum(left: Resources, right: Resources) -> Resources:
    """Maximum over the union of the scalars; negative scalars are dropped (`MAX`)."""
    scalars: dict[str, float] | None = None
    for side in (left, right):
        if side.scalars is None:
            continue
        scalars = {} if scalars is None else scalars
        for name, amount in side.scalars.items():
            if amount >= 0:
                scalars[name] = max(scalars.get(name, 0.0), amount)
    return Resources(max(left.cpu, right.cpu), max(left.memory, right.memory), scalars)


def common_names(left: Resources, right: Resources) -> list[str]:
    """Dimensions that both hold (`INTER`)."""
    return [name for name in right.names() if name in left.names()]


def exceeds_relevant(left: Resources, right: Resources, request: Resources) -> bool:
    """Some requested dimension that the right side has is larger on the left (`GTREL`)."""
    return any(
        name != "pods" and request.get(name) > 0 and right.has(name) and left.get(name) > right.get(name)
        for name in request.dimensions()
    )


def some_within(left: Resources, right: Resources, request: Resources) -> bool:
    """Some requested dimension, not nothing on both sides, is within the right side (`LEANY`)."""
    for name in request.dimensions():
        if name == "pods" or request.get(name) <= 0:
            continue
        if left.get(name) < EPSILON and right.get(name) < EPSILON:
            continue
        if within(left.get(name), right.get(name)):
            return True
    return False


def ratio(part: float, whole_amount: float) -> float:
    """part / whole, with 0/0 = 0 and x/0 = 1."""
    if whole_amount == 0:
        return 0.0 if part == 0 else 1.0
    return part / whole_amount


def share(part: Resources, whole_amount: Resources, names: Iterable[str]) -> float:
    """The dominant share: the largest ratio over the named dimensions."""
    return max([ratio(part.get(name), whole_amount.get(name)) for name in names], default=0.0)
