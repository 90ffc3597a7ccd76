"""Where the reference is free: exact ties and orders taken from maps (spec 03 §9, 08 §10.5).

Seed 0 takes the first in arrival order everywhere. Every other seed draws. A *guide* (pod key -> node) makes
a tie go the way somebody else's outcome went, if that way is among the permitted ones; so a right outcome is
found without trying all seeds.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TypeVar

Item = TypeVar("Item")


class Choices:
    """One run's free choices."""

    def __init__(self, seed: int = 0, guide: Mapping[str, str] | None = None) -> None:
        self.seed = seed
        self.guide = guide or {}
        self.random = random.Random(seed)
        self.ties: list[tuple[str, list[str]]] = []  # what was a free choice of node in this run

    def node(self, task_key: str, names: list[str]) -> str:
        """One of the nodes that are equally good for a task."""
        if len(names) > 1:
            self.ties.append((task_key, names))
        wanted = self.guide.get(task_key)
        if wanted in names:
            return str(wanted)
        return self.one(names)

    def one(self, items: list[Item]) -> Item:
        return items[0] if self.seed == 0 else self.random.choice(items)

    def shuffle(self, items: list[Item]) -> list[Item]:
        """The items in an order the reference takes from a map."""
        shuffled = list(items)
        if self.seed:
            self.random.shuffle(shuffled)
        return shuffled

    def start(self, count: int) -> int:
        """Where a scan of `count` nodes begins."""
        return self.random.randrange(count)


def best(scores: Mapping[str, float]) -> list[str]:
    """The names with the highest score; float noise from map order counts as a tie."""
    top = max(scores.values())
    return [name for name, score in scores.items() if top - score <= 1e-9 * max(1.0, abs(top))]
