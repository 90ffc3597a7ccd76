"""Counts by row, and their sums by domain: how many of something stand on a node, in a rack, in a zone.

Whoever counts says `add(row, ±n)`; readers ask for the sums over a partition of the rows. Counts are sparse,
because there may be a hundred thousand counters (one a job) of which a session reads a few. Sums are dense,
made when first read, and from then on kept by `add` in place, at 0.2 µs each, until the partition changes.
Design-notes §2.7.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.intp]


class Clock:
    """Shared by counters whose changes are compared: each change gets the next number."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0

    def tick(self) -> int:
        self.now += 1
        return self.now


class Domains:
    """A partition of the rows: `of[row]` is the number of the row's domain, or -1 if it belongs to none.

    Never changed: when rows move between domains there is a new partition, and the old one is retired.
    """

    __slots__ = ("_cells", "_present", "_readers", "of", "size")

    def __init__(self, of: Numbers, size: int) -> None:
        self.of = of
        self.size = size
        self._cells = memoryview(of)  # type: ignore[arg-type]
        self._present: Numbers | None = None
        self._readers: list[Tally] = []

    @property
    def present(self) -> Numbers:
        """Numbers of the domains that have a row, ascending."""
        if self._present is None:
            seen = np.unique(self.of)
            self._present = seen[seen >= 0]
        return self._present

    @property
    def readers(self) -> int:
        """How many counters keep sums over this partition."""
        return len(self._readers)

    def forget_sums(self) -> None:
        """Drop the sums that are kept over this partition; reading makes them anew."""
        for tally in self._readers:
            tally._sums.pop(self, None)
        self._readers.clear()

    def verify(self) -> None:
        """Recompute the kept sums. Raises `AssertionError`."""
        for tally in self._readers:
            fresh = [0] * (self.size + 1)
            for row, count in tally.rows.items():
                if row < len(self.of) and self.of[row] >= 0:
                    fresh[self.of[row]] += count
            kept = tally._sums[self].tolist()
            if kept != fresh:
                raise AssertionError(f"sums by domain: kept {kept}, recomputed {fresh}")

    def __len__(self) -> int:
        return len(self._cells)


class Tally:
    """One counter: `rows` has the counts that are not 0, `changed` the clock's number of the last change."""

    __slots__ = ("_clock", "_sums", "changed", "rows")

    def __init__(self, clock: Clock) -> None:
        self.rows: dict[int, int] = {}
        self.changed = 0
        self._clock = clock
        self._sums: dict[Domains, Numbers] = {}

    def add(self, row: int, amount: int) -> None:
        """Count `amount` more (or, negative, fewer) on a row."""
        count = self.rows.get(row, 0) + amount
        if count:
            self.rows[row] = count
        else:
            del self.rows[row]
        self.changed = self._clock.tick()
        for domains, sums in self._sums.items():
            cells = domains._cells
            if row < len(cells) and (domain := cells[row]) >= 0:
                sums[domain] += amount

    def per_domain(self, domains: Domains) -> Numbers:
        """Sum of each domain: int[size + 1], where the last is always 0, so `sums[domains.of]` is 0 for rows
        outside. The array stays the counter's own: read it at once, do not write."""
        sums = self._sums.get(domains)
        if sums is None:
            sums = self._sums[domains] = np.zeros(domains.size + 1, dtype=np.intp)
            domains._readers.append(self)
            cells, rows = domains._cells, len(domains)
            for row, count in self.rows.items():
                if row < rows and (domain := cells[row]) >= 0:
                    sums[domain] += count
        return sums
