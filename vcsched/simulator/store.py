"""The store: every object with its versions, as etcd keeps them behind a real API server.

One counter numbers all changes. A kind is a `Table`: the present objects by "namespace/name" (or "name"), and
a history of changes from which watches are fed. The history is bounded: a reader that asks for what was
dropped is told so (`CompactedError`) and must list again.

Objects are plain JSON dicts that nobody changes once they are stored: a writer copies what it changes. Each
version is encoded once; lists, watches and replies all send the same bytes. One thread (the server's loop)
uses a store. It knows nothing of HTTP and nothing of what the objects mean.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

Obj = dict[str, Any]

_encode = msgspec.json.Encoder().encode


class CompactedError(Exception):
    """The history no longer reaches back to the version that was asked for."""


class Version:
    """One stored version of an object with its encoded form."""

    __slots__ = ("body", "key", "obj", "rv")

    def __init__(self, key: str, obj: Obj, rv: int) -> None:
        self.key = key
        self.obj = obj
        self.rv = rv
        self.body = _encode(obj)


class Change:
    """A step of the history. `version` is the new one (the last one for DELETED), `old` what it replaced."""

    __slots__ = ("_frame", "old", "type", "version")

    def __init__(self, type_: str, version: Version, old: Version | None) -> None:
        self.type = type_
        self.version = version
        self.old = old
        self._frame = b""

    @property
    def frame(self) -> bytes:
        """The line of a watch stream; built once, when the first watcher wants it."""
        if not self._frame:
            self._frame = b'{"type":"%s","object":%s}\n' % (self.type.encode(), self.version.body)
        return self._frame


class Table:
    """The objects of one kind. Use the methods of `Store` to write."""

    def __init__(self, name: str, history: int) -> None:
        self.name = name
        self.objects: dict[str, Version] = {}
        self._limit = history
        self._changes: list[Change] = []
        self._numbers: list[int] = []  # resourceVersions of `_changes`
        self._compacted = 0
        self._waiting: list[asyncio.Future[None]] = []

    def since(self, rv: int) -> list[Change]:
        """The changes after a version. Raises CompactedError if some of them were dropped."""
        if rv < self._compacted:
            raise CompactedError
        return self._changes[bisect_right(self._numbers, rv) :]

    async def changed(self, rv: int) -> None:
        """Return when there is a change after this version, or at the next `wake`."""
        if self._numbers and self._numbers[-1] > rv:
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        await future

    def compact(self) -> None:
        """Drop the whole history: every watch that has not seen the last change must list again."""
        if self._numbers:
            self._drop(len(self._numbers))

    def add(self, change: Change) -> None:
        """Append to the history and wake the watchers."""
        self._changes.append(change)
        self._numbers.append(change.version.rv)
        if len(self._changes) > 2 * self._limit:
            self._drop(len(self._changes) - self._limit)
        if self._waiting:
            self.wake()

    def wake(self) -> None:
        """Let those who wait in `changed` look again."""
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    def _drop(self, count: int) -> None:
        self._compacted = self._numbers[count - 1]
        del self._changes[:count], self._numbers[:count]


class Store:
    """All tables under one counter of versions."""

    def __init__(self, history: int = 20_000) -> None:
        self.rv = 1
        self.listeners: list[Callable[[Table, Change], None]] = []  # called at once with every change
        self._history = history
        self._tables: dict[str, Table] = {}

    def table(self, name: str) -> Table:
        """The table of a kind, named "plural.group" ("pods", "podgroups.scheduling.volcano.sh")."""
        found = self._tables.get(name)
        if found is None:
            found = self._tables[name] = Table(name, self._history)
        return found

    def tables(self) -> Iterator[Table]:
        """Every table that was used."""
        return iter(self._tables.values())

    def put(self, table: Table, key: str, obj: Obj) -> Version:
        """Store a new version. `obj` and its metadata must be the caller's own; they get the number."""
        self.rv += 1
        obj["metadata"]["resourceVersion"] = str(self.rv)
        old = table.objects.get(key)
        version = table.objects[key] = Version(key, obj, self.rv)
        self._record(table, Change("MODIFIED" if old else "ADDED", version, old))
        return version

    def remove(self, table: Table, key: str) -> Version:
        """Take an object out; its last version has the number of the removal. KeyError if there is none."""
        old = table.objects.pop(key)
        self.rv += 1
        last = {**old.obj, "metadata": {**old.obj["metadata"], "resourceVersion": str(self.rv)}}
        version = Version(key, last, self.rv)
        self._record(table, Change("DELETED", version, old))
        return version

    def _record(self, table: Table, change: Change) -> None:
        table.add(change)
        for listener in self.listeners:
            listener(table, change)
