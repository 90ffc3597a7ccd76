"""A changed file is noticed once, also through the links of a mounted ConfigMap (spec 02 §6.5)."""

from __future__ import annotations

import itertools
import os
import queue
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vcsched.daemon.reload import DirectoryWatch, watch_configuration, watch_plugins

QUIET_S = 0.05
PATIENCE_S = 60.0  # how long a change may take to be noticed on a busy machine


class Watched:
    """Runs watches that put a mark for every change they notice."""

    def __init__(self) -> None:
        self.marks: queue.Queue[str] = queue.Queue()
        self.watches: list[DirectoryWatch] = []

    def start(self, make: Callable[..., DirectoryWatch], path: Path, quiet_s: float = QUIET_S) -> None:
        watch = make(str(path), lambda: self.marks.put("changed"), quiet_s)
        watch.start()
        self.watches.append(watch)

    def noticed(self) -> None:
        """One change comes, however long the machine takes."""
        assert self.marks.get(timeout=PATIENCE_S) == "changed"

    def count_after(self, last: Callable[[], object]) -> int:
        """How many changes are noticed before and with a last one."""
        last()
        self.noticed()
        return 1 + self.marks.qsize()


@pytest.fixture
def watched() -> Iterator[Watched]:
    watched = Watched()
    yield watched
    for watch in watched.watches:
        watch.stop()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "scheduler.conf"
    file.write_text("one")
    return file


def test_a_written_file_is_noticed(watched: Watched, file: Path) -> None:
    watched.start(watch_configuration, file)
    file.write_text("two")
    watched.noticed()
    file.write_text("three")
    watched.noticed()


def put(file: Path, text: str) -> None:
    """Replace a file in one step: nobody reads it half written."""
    other = file.with_name("new")
    other.write_text(text)
    os.replace(other, file)


def test_a_file_put_in_its_place_is_noticed(watched: Watched, file: Path) -> None:
    watched.start(watch_configuration, file)
    put(file, "two")
    watched.noticed()


def test_a_file_that_goes_and_comes_is_noticed(watched: Watched, file: Path) -> None:
    watched.start(watch_configuration, file)
    file.unlink()
    watched.noticed()
    file.write_text("one")
    watched.noticed()


def mount(directory: Path, version: str, text: str) -> None:
    """Do as the kubelet does: a new directory, then `..data` is replaced by a link to it."""
    data = directory / f"..{version}"
    data.mkdir()
    (data / "scheduler.conf").write_text(text)
    link = directory / "..data_tmp"
    link.symlink_to(data.name)
    os.replace(link, directory / "..data")


def test_the_swap_of_a_mounted_configmap_is_noticed(watched: Watched, tmp_path: Path) -> None:
    mount(tmp_path, "2026_01", "one")
    file = tmp_path / "scheduler.conf"
    file.symlink_to("..data/scheduler.conf")
    watched.start(watch_configuration, file)
    mount(tmp_path, "2026_02", "two")
    watched.noticed()
    assert file.read_text() == "two"
    mount(tmp_path, "2026_03", "three")
    watched.noticed()


def test_only_another_content_counts(watched: Watched, file: Path) -> None:
    watched.start(watch_configuration, file)
    put(file, "one")
    file.with_name("neighbour").write_text("x")
    file.touch()
    assert watched.count_after(lambda: put(file, "two")) == 1


def test_changes_that_come_together_are_one(watched: Watched, file: Path) -> None:
    watched.start(watch_configuration, file, quiet_s=2.0)
    for number in range(20):
        file.write_text(f"{number}")
    watched.noticed()
    assert watched.count_after(lambda: file.write_text("last")) == 1


def test_what_changed_before_the_start_is_noticed_too(watched: Watched, file: Path) -> None:
    watch = watch_configuration(str(file), lambda: watched.marks.put("changed"))
    file.write_text("two")
    watch.start()
    watched.watches.append(watch)
    watched.noticed()


def test_plugins_are_watched_by_their_python_files(watched: Watched, tmp_path: Path) -> None:
    watched.start(watch_plugins, tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / "mine.py").write_text("New = 1")
    watched.noticed()
    (tmp_path / "mine.py").unlink()
    watched.noticed()


def test_a_failing_reaction_does_not_end_the_watch(watched: Watched, file: Path) -> None:
    calls = itertools.count()

    def fail_first() -> None:
        watched.marks.put("changed")
        if next(calls) == 0:
            raise RuntimeError("first")

    watch = watch_configuration(str(file), fail_first)
    watched.watches.append(watch)
    watch.start()
    file.write_text("two")
    watched.noticed()
    file.write_text("three")
    watched.noticed()


def test_a_directory_that_is_not_there_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="is not a directory"):
        watch_configuration(str(tmp_path / "nowhere" / "scheduler.conf"), lambda: None)
