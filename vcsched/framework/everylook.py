"""Every look of a node once: how a function of room is asked about thousands of nodes at the price of a few.

Only cells can be read here. A function that wants more of a node than its cells (the pods on it, a label, which
row it is) gets `NeedsRows`, and is asked about the rows themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from vcsched.framework.plugin import Nodes

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture


class NeedsRows(Exception):
    """The answer of a function does not follow from cells alone."""


class EveryLook(Nodes):
    """One row a look, as `samples` has them; `of` is the look of each row of the table now,
    and `living` tells which looks some node has."""

    def __init__(self, picture: Picture) -> None:
        looks = picture.looks
        looks.refresh(picture.epoch)
        self.samples = self._table = looks.samples
        self.k = looks.samples.n
        self._rows = slice(0, self.k)
        self.of = looks.of
        self.living = looks.in_use & looks.samples.alive[: self.k]

    @property
    def world(self) -> NoReturn:
        raise NeedsRows

    @property
    def table(self) -> NoReturn:
        raise NeedsRows

    @property
    def rows(self) -> NoReturn:
        raise NeedsRows

    def label(self, key: str) -> NoReturn:
        raise NeedsRows

    def attribute(self, read: Any) -> NoReturn:
        raise NeedsRows

    def objects(self) -> NoReturn:
        raise NeedsRows
