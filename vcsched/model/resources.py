"""Resources: which names count, in what unit, and how a resource list becomes amounts.

Amounts are whole numbers kept as floats, each in the unit of its resource: thousandths of a cpu or a
device, bytes of memory, ephemeral storage and huge pages, pods by the piece. The specification counts
byte-like scalars in thousandths of a byte, which leaves the range where floats are exact; `scale` is the
factor between the two, needed only where such an amount meets a number of the specification.

A resource that is present with 0 is not the same as an absent one: it must fit even where nothing is
left. Arithmetic is in `algebra`. Spec 01 §1.1-1.3, §1.6, §15 no. 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache

from vcsched.kube.keys import CPU as CPU
from vcsched.kube.keys import EPHEMERAL_STORAGE, HUGEPAGES_PREFIX, PODS
from vcsched.kube.keys import MEMORY as MEMORY
from vcsched.kube.objects import Quantity
from vcsched.model import quantity
from vcsched.model.names import is_qualified_name
from vcsched.model.quantity import MAX_INT, UNLIMITED, QuantityError, Unit, milli, whole

Amounts = dict[str, float]
"""Resource name -> amount in the resource's unit. `cpu` and `memory` count as 0 when absent."""


class Kind(Enum):
    """How a resource is counted."""

    CPU = "cpu"  # thousandths
    MEMORY = "memory"  # bytes
    PODS = "pods"  # whole
    BYTES = "bytes"  # a scalar in bytes
    SCALAR = "scalar"  # any other scalar, in thousandths


_UNIT = {
    Kind.CPU: Unit.MILLI,
    Kind.MEMORY: Unit.BYTES,
    Kind.PODS: Unit.COUNT,
    Kind.BYTES: Unit.COUNT,
    Kind.SCALAR: Unit.MILLI,
}
_READ_MILLI = {Kind.CPU, Kind.SCALAR}
_NATIVE = {CPU: Kind.CPU, MEMORY: Kind.MEMORY, PODS: Kind.PODS, EPHEMERAL_STORAGE: Kind.BYTES}


@lru_cache(maxsize=4096)
def column(name: str) -> Kind | None:
    """How a resource of this name is counted; None if it is not: `storage`, `requests.cpu`, `count/…`."""
    if name in _NATIVE:
        return _NATIVE[name]
    if name.startswith("count/"):
        return None
    if name.startswith(HUGEPAGES_PREFIX):
        return Kind.BYTES
    if "kubernetes.io/" in name or name.startswith("attachable-volumes-") or _is_extended(name):
        return Kind.SCALAR
    return None


def _is_extended(name: str) -> bool:
    """Whether this names a device, as `nvidia.com/gpu` does: fit to be written `requests.NAME` in a quota."""
    return "/" in name and not name.startswith("requests.") and is_qualified_name("requests." + name)


@lru_cache(maxsize=4096)
def scale(name: str) -> float:
    """Factor from our unit to the specification's: 1000 for byte-like scalars, else 1."""
    return 1000.0 if column(name) is Kind.BYTES else 1.0


def rank(name: str) -> tuple[int, str]:
    """Sort key of the order in which resources are named: cpu, memory, then by name."""
    return (0 if name == CPU else 1 if name == MEMORY else 2, name)


def in_order(names: Iterable[str]) -> list[str]:
    """These names in the order of `rank`."""
    return sorted(names, key=rank)


def amounts(quantities: Mapping[str, Quantity]) -> Amounts:
    """A resource list as amounts, in the order of `rank`. Raises `QuantityError` naming the resource."""
    return dict(_amounts(tuple(quantities.items())))


# pods of one template repeat the same few lists, so reading a list is mostly a look-up
@lru_cache(maxsize=8192)
def _amounts(listed: tuple[tuple[str, Quantity], ...]) -> Amounts:
    found: Amounts = {}
    for name, value in sorted(listed, key=lambda item: rank(item[0])):
        kind = column(name)
        if kind is None:
            continue
        read = milli if kind in _READ_MILLI else whole
        try:
            found[name] = float(read(value))
        except QuantityError as error:
            raise QuantityError(f"{name}: {error}") from None
    return found


def quantities(held: Mapping[str, float]) -> dict[str, str]:
    """Amounts as a resource list of canonical quantities; cpu and memory always stand in it."""
    every = {CPU: 0.0, MEMORY: 0.0, **held}
    return {name: quantity.render(every[name], _unit(name)) for name in in_order(every)}


def human(name: str, amount: float) -> str:
    """One amount as people write it: `4`, `500m`, `2Gi`."""
    return quantity.human(amount, Unit.BYTES if column(name) is Kind.BYTES else _unit(name))


def spell(held: Mapping[str, float]) -> str:
    """Amounts as the scheduler's texts spell them: `cpu 2000.00, memory 4096.00, nvidia.com/gpu 1000.00`."""
    every = {CPU: 0.0, MEMORY: 0.0, **held}
    return ", ".join(f"{name} {_decimals(every[name] * scale(name))}" for name in in_order(every))


def _decimals(amount: float) -> str:
    if amount >= UNLIMITED:
        return "maxFloat"
    return "maxInt" if amount == float(MAX_INT) else f"{amount:.2f}"


def _unit(name: str) -> Unit:
    kind = column(name)
    return Unit.MILLI if kind is None else _UNIT[kind]
