"""Finding selectors by the pod, and pods by the selector, without trying all of one against all of the other.

A selector that asks for a label with one value, as nearly all do, is filed under that pair; a pod then looks
only under its own pairs. The other way round, pods are filed by namespace, and by each label key that some
selector was filed under. Design-notes §2.7.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Generic, Protocol, TypeVar

from vcsched.model.selectors import LabelRule, Labels, Selector

T = TypeVar("T")

_Drawer = dict[T, LabelRule | None]
"""The things of one place, with what else their selectors ask; None: nothing."""


class SelectorIndex(Generic[T]):
    """Things with a selector each; `find` gives those that mean a pod."""

    def __init__(self) -> None:
        self._by_key: dict[str, dict[tuple[str | None, str], _Drawer[T]]] = {}
        self._loose: dict[str | None, _Drawer[T]] = {}  # by namespace: selectors without such a pair

    def __bool__(self) -> bool:
        return any(self._by_key.values()) or bool(self._loose)

    def add(self, selector: Selector, thing: T) -> None:
        rest = None if len(selector.rule.requirements or ()) == (selector.index_key is not None) else selector.rule
        for drawers, place in self._places(selector):
            drawers.setdefault(place, {})[thing] = rest

    def remove(self, selector: Selector, thing: T) -> None:
        for drawers, place in self._places(selector):
            del drawers[place][thing]
            if not drawers[place]:
                del drawers[place]

    def _places(self, selector: Selector) -> Iterator[tuple[dict[Any, _Drawer[T]], Any]]:
        """The drawers in which a selector lies; none if it means nobody."""
        if selector.is_nobody:
            return
        pair = selector.index_key
        for namespace in selector.namespaces if selector.namespaces is not None else (None,):
            if pair is None:
                yield self._loose, namespace
            else:
                yield self._by_key.setdefault(pair[0], {}), (namespace, pair[1])

    def find(self, namespace: str, labels: Labels) -> list[T]:
        """All things whose selector means a pod with these labels in this namespace."""
        found: list[T] = []
        for key, drawers in self._by_key.items():
            value = labels.get(key)
            if value is not None:
                _take(found, labels, drawers.get((namespace, value)))
                _take(found, labels, drawers.get((None, value)))
        if self._loose:
            _take(found, labels, self._loose.get(namespace))
            _take(found, labels, self._loose.get(None))
        return found


def _take(found: list[T], labels: Labels, drawer: _Drawer[T] | None) -> None:
    if drawer:
        found += [thing for thing, rest in drawer.items() if rest is None or rest.matches(labels)]


class Labelled(Protocol):
    """What `PodIndex` files: a pod with its labels as they were when it was filed."""

    @property
    def uid(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def labels(self) -> Labels: ...


L = TypeVar("L", bound=Labelled)


class PodIndex(Generic[L]):
    """Pods by uid, and by namespace and label; label keys are indexed from their first use on."""

    def __init__(self) -> None:
        self.by_uid: dict[str, L] = {}
        self._by_namespace: dict[str, dict[str, L]] = {}
        self._by_key: dict[str, dict[tuple[str, str], dict[str, L]]] = {}

    def add(self, pod: L) -> None:
        uid, namespace = pod.uid, pod.namespace
        self.by_uid[uid] = pod
        same = self._by_namespace.get(namespace)
        if same is None:
            same = self._by_namespace[namespace] = {}
        same[uid] = pod
        for key, values in self._by_key.items():
            value = pod.labels.get(key)
            if value is not None:
                values.setdefault((namespace, value), {})[uid] = pod

    def pop(self, uid: str) -> L | None:
        """Take a pod out; None if it is not there."""
        pod = self.by_uid.pop(uid, None)
        if pod is None:
            return None
        namespace = pod.namespace
        same = self._by_namespace[namespace]
        del same[uid]
        if not same:
            del self._by_namespace[namespace]
        for key, values in self._by_key.items():
            value = pod.labels.get(key)
            if value is not None:
                alike = values[namespace, value]
                del alike[uid]
                if not alike:
                    del values[namespace, value]
        return pod

    def find(self, selector: Selector) -> Iterable[L]:
        """The pods that a selector means."""
        if selector.is_nobody:
            return
        namespaces = self._by_namespace if selector.namespaces is None else selector.namespaces
        pair = selector.index_key
        values = None if pair is None else self._values_of(pair[0])
        for namespace in list(namespaces):
            if values is None or pair is None:
                candidates = self._by_namespace.get(namespace)
            else:
                candidates = values.get((namespace, pair[1]))
            for pod in (candidates or {}).values():
                if selector.matches(pod.labels):
                    yield pod

    def _values_of(self, key: str) -> dict[tuple[str, str], dict[str, L]]:
        values = self._by_key.get(key)
        if values is None:
            values = self._by_key[key] = {}
            for uid, pod in self.by_uid.items():
                value = pod.labels.get(key)
                if value is not None:
                    values.setdefault((pod.namespace, value), {})[uid] = pod
        return values
