"""A priority queue over a comparator whose answers may change while items wait.

The binary heap of spec 03 §11: push appends and sifts up, pop swaps the root with the last item and sifts
down. Nothing is re-keyed when shares change; comparisons happen at push and pop with the state of that
moment. Other heap variants pop in another order once comparators drift, so this one is not replaceable
by `heapq` (design-notes §1 item 6).
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")


class Waiting(Protocol[T]):
    """What both queues can do."""

    def __len__(self) -> int: ...
    def push(self, item: T) -> None: ...
    def pop(self) -> T: ...


class LiveQueue(Generic[T]):
    """`less(a, b)` says whether a goes before b now."""

    __slots__ = ("_items", "_less")

    def __init__(self, less: Callable[[T, T], bool], items: Iterable[T] = ()) -> None:
        self._less = less
        self._items: list[T] = []
        for item in items:
            self.push(item)

    def __len__(self) -> int:
        return len(self._items)

    def push(self, item: T) -> None:
        items, less = self._items, self._less
        items.append(item)
        child = len(items) - 1
        while child > 0:
            parent = (child - 1) // 2
            if not less(items[child], items[parent]):
                break
            items[child], items[parent] = items[parent], items[child]
            child = parent

    def pop(self) -> T:
        """Remove and return the first item; IndexError when empty."""
        items, less = self._items, self._less
        last = len(items) - 1
        items[0], items[last] = items[last], items[0]
        parent = 0
        while True:
            child = 2 * parent + 1
            if child >= last:
                break
            if child + 1 < last and less(items[child + 1], items[child]):
                child += 1
            if not less(items[child], items[parent]):
                break
            items[parent], items[child] = items[child], items[parent]
            parent = child
        return items.pop()

    def copy(self) -> LiveQueue[T]:
        """An independent queue with the same comparator and the same inner order."""
        twin: LiveQueue[T] = LiveQueue(self._less)
        twin._items = list(self._items)
        return twin


class KeyedQueue(Generic[T]):
    """The same pops at a tenth of the price, where items do not change while they wait.

    `key(item)` is taken at push and must be different for any two items. Most are pushed before the first is
    popped: those are sorted once, and a later one is put in its place.
    """

    __slots__ = ("_first", "_is_sorted", "_items", "_key")

    def __init__(self, key: Callable[[T], Any]) -> None:
        self._key = key
        self._items: list[tuple[Any, T]] = []
        self._first = 0  # those before it were popped
        self._is_sorted = False

    def __len__(self) -> int:
        return len(self._items) - self._first

    def push(self, item: T) -> None:
        entry = (self._key(item), item)
        if self._is_sorted:
            insort(self._items, entry, lo=self._first)
        else:
            self._items.append(entry)

    def pop(self) -> T:
        """Remove and return the first item; IndexError when empty."""
        if not self._is_sorted:
            self._items.sort()
            self._is_sorted = True
        item = self._items[self._first][1]
        self._first += 1
        return item
