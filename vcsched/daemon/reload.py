"""Notices that scheduler.conf or a plugin file has changed (spec 02 §6.5, W37).

What is watched is the *directory*, not the file: editors replace files, and a mounted ConfigMap replaces
the link `..data`, through which every file of the mount is seen. Events that come together are one change,
and a change counts only if the content is another: `changed` is then called once, from a thread of its own.
It should only leave a note for whoever loads.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer

log = logging.getLogger(__name__)

QUIET_S = 0.2
"""A change is looked at when nothing has happened for so long."""

_OF_INTEREST = [
    DirCreatedEvent,
    DirMovedEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]


class DirectoryWatch:
    """Watches one directory for changes of the content of some of its files.

    `files` gives the paths that matter, anew each time, so that files may come and go. The directory must
    exist: FileNotFoundError otherwise.
    """

    def __init__(
        self,
        directory: Path,
        files: Callable[[], Iterable[Path]],
        changed: Callable[[], object],
        quiet_s: float = QUIET_S,
    ) -> None:
        if not directory.is_dir():
            raise FileNotFoundError(f"{directory} is not a directory, so changes in it cannot be watched")
        self._files = files
        self._changed = changed
        self._quiet_s = quiet_s
        self._seen = self._content()
        self._stirred = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"watch {directory}", daemon=True)
        self._observer = Observer()
        handler = _Stir(self._stirred)
        self._observer.schedule(handler, str(directory), recursive=False, event_filter=_OF_INTEREST)

    def start(self) -> None:
        """Begin to watch; what changed since the object was made is noticed too."""
        self._observer.start()
        self._stirred.set()
        self._thread.start()

    def stop(self) -> None:
        """End the watch and its threads."""
        self._ended.set()
        self._stirred.set()
        self._observer.stop()
        self._observer.join()
        self._thread.join()

    def _run(self) -> None:
        while self._stirred.wait() and not self._ended.is_set():
            while self._stirred.is_set() and not self._ended.is_set():
                self._stirred.clear()
                self._ended.wait(self._quiet_s)
            content = self._content()
            if content == self._seen or self._ended.is_set():
                continue
            self._seen = content
            try:
                self._changed()
            except Exception:
                log.exception("a change was noticed, but acting on it failed")

    def _content(self) -> dict[str, bytes]:
        """Digest of each file that matters; a file that cannot be read counts as empty."""
        digests = {}
        for path in sorted(self._files()):
            try:
                digests[str(path)] = hashlib.sha256(path.read_bytes()).digest()
            except OSError:
                digests[str(path)] = b""
        return digests


class _Stir(FileSystemEventHandler):
    """Sets the event; which file it was does not matter, since `..data` stands for all."""

    def __init__(self, stirred: threading.Event) -> None:
        self._stirred = stirred

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._stirred.set()


def watch_configuration(path: str, changed: Callable[[], object], quiet_s: float = QUIET_S) -> DirectoryWatch:
    """Watch scheduler.conf at `path`."""
    file = Path(path)
    return DirectoryWatch(file.parent, lambda: [file], changed, quiet_s)


def watch_plugins(directory: str, changed: Callable[[], object], quiet_s: float = QUIET_S) -> DirectoryWatch:
    """Watch the Python files of the plugins directory."""
    folder = Path(directory)
    return DirectoryWatch(folder, lambda: folder.glob("*.py"), changed, quiet_s)
