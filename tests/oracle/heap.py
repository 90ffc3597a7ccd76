"""The binary heap from which the actions take queues, jobs and tasks (spec 03 §11).

The comparison is asked live: what changes while items wait does not re-order them, as in the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Heap(Generic[Item]):
    """Push appends and sifts up; pop swaps the first with the last and sifts down."""

    def __init__(self, less: Callable[[Item, Item], bool], items: Iterable[Item] = ()) -> None:
        self.less = less
        self.items: list[Item] = []
        for item in items:
            self.push(item)

    def __bool__(self) -> bool:
        return bool(self.items)

    def push(self, item: Item) -> None:
        items = self.items
        items.append(item)
        child = len(items) - 1
        while child > 0:
            parent = (child - 1) // 2
            if not self.less(items[child], items[parent]):
                break
            items[child], items[parent] = items[parent], items[child]
            child = parent

    def pop(self) -> Item:
        items = self.items
        items[0], items[-1] = items[-1], items[0]
        top = items.pop()
        parent = 0
        while True:
            child = 2 * parent + 1
            if child >= len(items):
                break
            if child + 1 < len(items) and self.less(items[child + 1], items[child]):
                child += 1
            if not self.less(items[child], items[parent]):
                break
            items[child], items[parent] = items[parent], items[child]
            parent = child
        return top

    def clone(self) -> Heap[Item]:
        twin: Heap[Item] = Heap(self.less)
        twin.items = list(self.items)
        return twin


def in_order(items: Iterable[Item], less: Callable[[Item, Item], bool]) -> list[Item]:
    """The items as a heap would give them out."""
    heap = Heap(less, items)
    out = []
    while heap:
        out.append(heap.pop())
    return out
