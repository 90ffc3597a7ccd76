"""Shapes: a form, and which of the selectors that somebody asks about the pod's labels meet (design-notes D9).

The match is derived when a task is asked about, and again only after a selector was registered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.model.form import Form, Shape

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.model.task import Task


class Shapes:
    """Interned shapes."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._shapes: dict[tuple[Form, frozenset[int]], Shape] = {}

    def of(self, task: Task) -> Shape:
        """The shape of a task now."""
        counters = self._picture.counters
        if task.match_version != counters.version:
            match = counters.match(task)
            key = (task.form, match)
            shape = self._shapes.get(key)
            if shape is None:
                shape = self._shapes[key] = Shape(task.form, match)
            task.shape = shape
            task.match_version = counters.version
        found: Shape = task.shape
        return found
