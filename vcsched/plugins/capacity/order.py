"""Which queue comes first, and which of two victims' queues gives first (spec 05 §8.2, §9.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.framework.plugin import compare

if TYPE_CHECKING:
    from vcsched.model.queue import Queue
    from vcsched.plugins.capacity.books import Books
    from vcsched.plugins.capacity.tree import Path


class QueueOrder:
    """Higher priority, then the smaller share; in a tree, shares are compared where the two ways part."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._paths = books.tree.paths
        self._inner_rows = books.tree.inner_rows

    def first(self, a: Queue, b: Queue) -> int:
        """Queues alone."""
        return compare(b.priority, a.priority) or self._by_share(a.row, b.row)

    def first_in_tree(self, a: Queue, b: Queue) -> int:
        """Queues of a tree: those without queues below them first, faulty ones last."""
        priority, other_priority = a.priority, b.priority
        if priority != other_priority:
            return -1 if priority > other_priority else 1
        here, there = self._paths.get(a.name), self._paths.get(b.name)
        if here is None or there is None:
            return compare(here is None, there is None)
        is_inner, other_is_inner = a.row in self._inner_rows, b.row in self._inner_rows
        if is_inner != other_is_inner:
            return 1 if is_inner else -1
        if is_inner:
            return self._by_share(a.row, b.row)
        for mine, other in zip(here, there, strict=False):
            if mine != other:
                return self._by_share(mine, other)
        return 0

    def closer_first(self, left: Queue, right: Queue, preemptor: Queue) -> int:
        """Victims come from near relatives of the preemptor's queue, then from the queue that is served last."""
        near, far, own = (self._paths.get(queue.name) for queue in (left, right, preemptor))
        if near is None or far is None or own is None:
            return 0
        return compare(_common(far, own), _common(near, own)) or -self.first_in_tree(left, right)

    def _by_share(self, a: int, b: int) -> int:
        books = self._books
        share, other = books.share(a), books.share(b)
        if share != other:
            return -1 if share < other else 1
        return compare(books.nothing[a], books.nothing[b])


def _common(a: Path, b: Path) -> int:
    """How many ancestors two queues share."""
    count = 0
    for mine, other in zip(a[:-1], b[:-1], strict=False):
        if mine != other:
            break
        count += 1
    return count
