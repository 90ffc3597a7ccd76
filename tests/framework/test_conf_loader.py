"""Which configuration is in force (spec 02 §6.4)."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from vcsched.framework.conf_loader import Loader
from vcsched.framework.findings import ConfigurationError


class Names:
    def action_names(self) -> frozenset[str]:
        return frozenset({"enqueue", "allocate", "backfill"})

    def plugin_names(self) -> frozenset[str]:
        return frozenset(
            ["priority", "gang", "conformance", "overcommit", "drf", "predicates", "proportion", "nodeorder"]
        )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "scheduler.conf"


def test_without_a_path_the_built_in_configuration_is_in_force() -> None:
    loader = Loader("", Names())
    assert loader.load()
    assert loader.valid
    assert loader.current.actions == ("enqueue", "allocate", "backfill")


def test_a_good_file_is_taken_whole_and_shown_in_the_log(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.write_text("actions: allocate\nmetrics: {type: prometheus}\n")
    loader = Loader(str(file), Names())
    with caplog.at_level(logging.INFO - 2):
        assert loader.load()
    assert loader.current.actions == ("allocate",)
    assert loader.current.tiers == ()
    assert loader.current.metrics == {"type": "prometheus"}
    assert caplog.messages[:2] == ["Successfully loaded Scheduler conf as follows:", "actions: allocate"]


def test_what_is_doubtful_is_warned_about_with_file_and_place(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    file.write_text("actions: allocate\ntiers: [{plugins: [{name: gangs}]}]\n")
    Loader(str(file), Names()).load()
    assert caplog.messages == [f'{file}:2:27 error unknown plugin "gangs" (did you mean gang?)']


def test_a_file_that_did_not_change_is_not_loaded_again(file: Path) -> None:
    file.write_text("actions: allocate\n")
    loader = Loader(str(file), Names())
    assert loader.load()
    before = loader.current
    assert not loader.load()
    assert loader.current is before


@pytest.mark.parametrize("bad", ["", "actions: alocate", "actions: [", b"\xff\xfe"])
def test_a_bad_edit_keeps_the_last_good_configuration(
    file: Path, bad: str | bytes, caplog: pytest.LogCaptureFixture
) -> None:
    file.write_text("actions: allocate\n")
    loader = Loader(str(file), Names(), strict=True)
    loader.load()
    before = loader.current
    file.write_bytes(bad if isinstance(bad, bytes) else bad.encode())
    assert not loader.load()
    assert loader.current is before
    assert not loader.valid
    assert loader.error
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "the last good one stays in force" in caplog.text

    file.write_text("actions: backfill\n")
    assert loader.load()
    assert loader.valid
    assert loader.current.actions == ("backfill",)


def test_a_missing_file_leaves_the_built_in_configuration(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    loader = Loader(str(file), Names())
    assert not loader.load()
    assert not loader.valid
    assert loader.current.actions == ("enqueue", "allocate", "backfill")
    assert "the built-in configuration stays in force" in caplog.text
    file.write_text("actions: allocate\n")
    assert loader.load()
    assert loader.valid


def test_a_file_that_is_good_again_is_valid_again(file: Path) -> None:
    file.write_text("actions: allocate\n")
    loader = Loader(str(file), Names())
    loader.load()
    file.write_text("actions: x\n")
    loader.load()
    file.write_text("actions: allocate\n")
    loader.load()
    assert loader.valid
    assert loader.current.actions == ("allocate",)


def test_a_strict_start_needs_a_good_file(file: Path) -> None:
    with pytest.raises(FileNotFoundError, match="disable-default-scheduler-config"):
        Loader("", Names(), strict=True).load()
    with pytest.raises(FileNotFoundError):
        Loader(str(file), Names(), strict=True).load()
    file.write_text("actions: x\n")
    with pytest.raises(ConfigurationError, match="line 1, column 10"):
        Loader(str(file), Names(), strict=True).load()
