"""Fit errors: why no node takes a task, frozen once for all tasks of a shape (spec 01 §10, design-notes §2.8).

A record counts reasons; its text is built when somebody reads it.
"""

from __future__ import annotations

from typing import Any

from vcsched.columns.table import BoolArray


def histogram(counts: dict[str, int]) -> str:
    """`2 Insufficient cpu, 3 node(s) were unschedulable`, sorted as text."""
    return ", ".join(sorted(f"{count} {reason}" for reason, count in counts.items()))


class FitRecord:
    """Reasons over `n` examined nodes. `unresolvable[row]` marks nodes that no eviction can open."""

    __slots__ = ("_text", "base", "counts", "hypernode", "n", "unresolvable")

    def __init__(
        self,
        n: int = 0,
        counts: dict[str, int] | None = None,
        unresolvable: BoolArray | None = None,
        *,
        base: str = "",
        hypernode: str = "",
    ) -> None:
        self.n = n
        self.counts = counts or {}
        self.unresolvable = unresolvable
        self.base = base
        self.hypernode = hypernode
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The sentence of spec 01 §10."""
        if self._text is None:
            base = self.base or f"0/{self.n} nodes are unavailable"
            if self.counts:
                prefix = f"In hyperNode {self.hypernode}: " if self.hypernode else ""
                self._text = f"{prefix}{base}: {histogram(self.counts)}."
            else:
                self._text = base
        return self._text

    def within(self, hypernode: str) -> FitRecord:
        """The same reasons, found inside a hypernode."""
        return FitRecord(self.n, self.counts, self.unresolvable, base=self.base, hypernode=hypernode)


def everywhere(reason: str, n: int, unresolvable: Any = None) -> FitRecord:
    """One reason for every one of n nodes, as a failed pre-filter gives it."""
    return FitRecord(n, {reason: n} if n else {}, unresolvable)
