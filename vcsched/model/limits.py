"""Limits: does what is asked still fit below one, and how people are told if not.

Only what is asked for is looked at: a queue that is over its memory limit still takes a job that asks for
cpu alone. The comparison is exact, and `pods` is no limit. Spec 05 §1.1 (`FIT`), §17.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from vcsched.kube.keys import PODS
from vcsched.model.resources import human


class Excess(NamedTuple):
    """A resource of which too much is asked; amounts in the unit of the resource."""

    name: str
    taken: float
    limit: float
    asked: float

    @property
    def missing(self) -> float:
        """By how much the limit would have to be higher."""
        return self.taken + self.asked - self.limit


def excesses(asked: Mapping[str, float], taken: Callable[[str], float], limit: Callable[[str], float]) -> list[Excess]:
    """The resources that do not fit, in the order of `asked`; `taken` and `limit` are asked by name."""
    found = []
    for name, amount in asked.items():
        if name == PODS or amount <= 0:
            continue
        held, most = taken(name), limit(name)
        if held + amount > most:
            found.append(Excess(name, held, most, amount))
    return found


def spell(found: Iterable[Excess], taken: str, of: str = "") -> str:
    """`cpu 96 of 100 used, 8 asked · memory …`; `taken` is the verb, `of` tells what the limit is."""
    return " · ".join(_spell_one(excess, taken, of) for excess in found)


def listed(text: str, word: str, found: Iterable[Excess]) -> str:
    """The reference's text: `queue resource quota insufficient: insufficient cpu, insufficient memory`."""
    return f"{text}: " + ", ".join(f"{word} {excess.name}" for excess in found)


# in one session thousands of like jobs may be refused for the same reason
@lru_cache(maxsize=1024)
def _spell_one(excess: Excess, taken: str, of: str) -> str:
    held, most, asked = (human(excess.name, amount) for amount in excess[1:])
    return f"{excess.name} {held} of {most}{of} {taken}, {asked} asked"
