"""Node sampling: ending the search once enough nodes are found (spec 03 §8, 04 §2.5).

Off by default, since all nodes are examined at once anyway. An explicit --percentage-nodes-to-find is
honoured, and under the reference's rules clusters of more than 100 nodes are sampled adaptively. The search
starts behind the last node examined, so all nodes get their turn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vcsched.columns.table import BoolArray, IntArray


@dataclass(frozen=True, slots=True)
class SamplingFlags:
    """The three flags of the command line."""

    minimum_nodes: int = 100  # --minimum-feasible-nodes
    minimum_percentage: int = 5  # --minimum-percentage-nodes-to-find
    percentage: int = 0  # --percentage-nodes-to-find; 0: none given


class Sampling:
    """Cuts the feasible nodes of a search down to those that would have been found first."""

    def __init__(self, flags: SamplingFlags, *, adaptive: bool) -> None:
        self._flags = flags
        self._adaptive = adaptive
        self._cursor = 0

    @property
    def is_on(self) -> bool:
        return self._adaptive or 0 < self._flags.percentage < 100

    def wanted(self, count: int) -> int:
        """How many feasible nodes a search over `count` nodes is to find."""
        flags = self._flags
        if count <= flags.minimum_nodes or flags.percentage >= 100 or not self.is_on:
            return count
        percentage = flags.percentage if flags.percentage > 0 else max(50 - count // 125, flags.minimum_percentage)
        return max(count * percentage // 100, flags.minimum_nodes)

    def cut(self, fits: BoolArray, examined: IntArray) -> BoolArray:
        """`fits` (bool[n]) without the nodes that the search would not have come to; `examined` are the rows it
        goes through, in order."""
        count = len(examined)
        if not count:
            return fits
        start = self._cursor % count
        wanted = self.wanted(count)
        order = np.roll(examined, -start)
        found = order[fits[order]]
        if len(found) <= wanted:
            self._cursor = start
            return fits
        last = int(np.flatnonzero(order == found[wanted])[0])
        self._cursor = (start + last + 1) % count
        kept = np.zeros_like(fits)
        kept[found[:wanted]] = True
        return kept
