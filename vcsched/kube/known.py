"""What the session thread was told about one kind: the memory that turns lists and watches into changes.

The API server repeats itself: a relist holds everything once more, a heartbeat changes nothing we read, a
write's reply and the watch bring the same object twice, in either order. Whatever arrives goes through
here, and only what changes a read field is passed on; each object's newest resourceVersion is kept, so that
older news is recognised (design-notes §1 items 15 and 37).

No I/O here; the reflector feeds it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Generic, TypeVar

import msgspec

from vcsched.kube.link import Deleted, Inbound, Refused, Upsert
from vcsched.kube.objects import Object, ObjectMeta, decode, key_of
from vcsched.kube.refusal import explain, meta_of, name_of, skeleton

O = TypeVar("O", bound=Object)  # noqa: E741

_META = attrgetter(*(name for name in ObjectMeta.__struct_fields__ if name != "resource_version"))


class _Entry(Generic[O]):
    """The last object passed on (None: it was refused, for `refused`), and the newest version seen."""

    __slots__ = ("obj", "passed", "refused", "uid", "version")

    def __init__(self, obj: O | None, uid: str, version: int, refused: str = "") -> None:
        self.obj = obj
        self.uid = uid
        self.version = version
        self.passed = version
        self.refused = refused


class Known(Generic[O]):
    """The objects of one kind that the session thread knows.

    `put` passes a message on; `keep` is the filter (None: everything).
    """

    def __init__(self, kind: type[O], put: Callable[[Inbound], None], keep: Callable[[O], bool] | None = None) -> None:
        self.kind = kind
        self._put = put
        self._keep = keep
        self._entries: dict[str, _Entry[O]] = {}
        self._body = tuple(name for name in kind.__struct_fields__ if name != "metadata")

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: str) -> O | None:
        """The object as the session thread was last told; None if unknown or refused."""
        entry = self._entries.get(key)
        return entry.obj if entry else None

    def newest(self, key: str, uid: str, told: str) -> str:
        """The resourceVersion to guard a write with that was decided on version `told`.

        Newer than `told` if only fields moved that nobody reads; `told` itself when there is news that the
        decision did not take into account, so that the write conflicts, as it should.
        """
        entry = self._entries.get(key)
        decided = version_of(told)
        if entry is None or entry.uid != uid or decided < entry.passed or decided >= entry.version:
            return told
        return str(entry.version)

    # ---------------------------------------------------------------- what arrives

    def upsert(self, raw: msgspec.Raw | bytes) -> tuple[str, str]:
        """Take one object of a list or watch; returns its key and resourceVersion, "" where it has none."""
        try:
            obj = decode(self.kind, raw)
        except msgspec.DecodeError as error:
            meta = meta_of(raw)
            if key := name_of(meta):
                self._refuse(key, meta, raw, error)
            return key, meta.resource_version
        key = key_of(obj)
        self._take(key, obj)
        return key, obj.metadata.resource_version

    def remove(self, raw: msgspec.Raw | bytes) -> str:
        """Take the last state of a deleted object; returns its resourceVersion."""
        meta = meta_of(raw)
        self._drop(name_of(meta), meta.uid)
        return meta.resource_version

    def only(self, keys: Iterable[str]) -> None:
        """A complete list held just these: everything else is gone."""
        there = set(keys)
        for key in [key for key in self._entries if key not in there]:
            self._drop(key, self._entries[key].uid)

    def saw(self, obj: O) -> O | None:
        """A write's reply showed this object: remember it. Returns it if it is news, None if it is not.

        The caller passes it on with the write's result, so nothing is put here. An object that is unknown by
        now was deleted after the reply was made, or never seen by the watch; the watch will tell.
        """
        key = key_of(obj)
        entry = self._entries.get(key)
        version = version_of(obj.metadata.resource_version)
        if entry is None or entry.uid != obj.metadata.uid or 0 < version < entry.version:
            return None
        entry.obj, entry.version, entry.passed, entry.refused = obj, version, version, ""
        return obj

    def versions_restart(self) -> None:
        """The server counts from anew (restored from a backup): what it says next is newer than all that."""
        for entry in self._entries.values():
            entry.version = entry.passed = -1

    # ---------------------------------------------------------------- parts

    def _take(self, key: str, obj: O) -> None:
        entry = self._entries.get(key)
        meta = obj.metadata
        version = version_of(meta.resource_version)
        if entry is not None and entry.uid == meta.uid and 0 < version <= entry.version:
            return
        if self._keep is not None and not self._keep(obj):
            if entry is not None:
                self._drop(key, entry.uid)
            return
        if entry is not None and entry.uid != meta.uid:  # deleted and made anew while we did not look
            self._drop(key, entry.uid)
            entry = None
        if entry is None:
            self._entries[key] = _Entry(obj, meta.uid, version)
        elif entry.obj is not None and self._same(entry.obj, obj):
            entry.version = version
            return
        else:
            entry.obj, entry.version, entry.passed, entry.refused = obj, version, version, ""
        self._put(Upsert(obj))

    def _drop(self, key: str, uid: str) -> None:
        entry = self._entries.get(key)
        if entry is None or (uid and entry.uid != uid):
            return
        del self._entries[key]
        self._put(Deleted(self.kind, key, entry.uid))

    def _same(self, a: O, b: O) -> bool:
        """Whether all read fields are equal, the resourceVersion aside."""
        if _META(a.metadata) != _META(b.metadata):
            return False
        return all(getattr(a, name) == getattr(b, name) for name in self._body)

    def _refuse(self, key: str, meta: ObjectMeta, raw: msgspec.Raw | bytes, error: msgspec.DecodeError) -> None:
        """Pass on why an object cannot be read, once per reason."""
        entry = self._entries.get(key)
        version = version_of(meta.resource_version)
        if entry is not None and entry.uid == meta.uid and 0 < version <= entry.version:
            return
        if self._keep is not None and not self._keep(skeleton(self.kind, raw, meta)):
            if entry is not None:
                self._drop(key, entry.uid)
            return
        if entry is not None and entry.uid != meta.uid:
            self._drop(key, entry.uid)
            entry = None
        reason = explain(error, raw)
        if entry is None:
            self._entries[key] = _Entry(None, meta.uid, version, reason)
        elif entry.refused == reason:
            entry.version = version
            return
        else:
            entry.obj, entry.version, entry.passed, entry.refused = None, version, version, reason
        self._put(Refused(self.kind, key, meta.uid, reason))


def version_of(text: str) -> int:
    """A resourceVersion as a number; 0, which is never older than anything, if it is none."""
    try:
        return int(text or 0)
    except ValueError:
        return 0
