"""The pytest side of the cases: options, chunks as parameters, and the count of left-out cases at the end.

Tests record how many cases they ran and left out as properties, so that the summary is right under xdist too.
"""

from __future__ import annotations

import collections
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .loader import SHARED, Case, default_folder, files, read_file
from .needs import not_yet

CHUNK = 20  # cases a test: few enough to spread over workers, many enough that pytest costs nothing
PROPERTY = "cases"


@dataclass(frozen=True)
class Chunk:
    """Some cases of one file."""

    path: Path
    start: int
    containing: str = ""

    @property
    def cases(self) -> list[Case]:
        cases = read_file(self.path)[self.start : self.start + CHUNK]
        return [case for case in cases if self.containing in case.name]

    def __str__(self) -> str:
        return f"{self.path.parent.name}/{self.path.name.split('.')[0]}-{self.start}"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("recorded cases")
    group.addoption("--cases", metavar="DIR", type=Path, help="folder of case files (default: ../shared/cases)")
    group.addoption("--case", metavar="TEXT", default="", help="only cases whose name contains this")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`chunk` and `case_file` are parameters over the folder of cases."""
    if not {"chunk", "case_file"} & set(metafunc.fixturenames):
        return
    folder = folder_of(metafunc.config)
    containing = metafunc.config.getoption("--case")
    found = files(folder)
    if "chunk" in metafunc.fixturenames:
        chunks = [Chunk(path, start, containing) for path in found for start in range(0, len(read_file(path)), CHUNK)]
        metafunc.parametrize("chunk", [chunk for chunk in chunks if chunk.cases], ids=str)
    if "case_file" in metafunc.fixturenames:
        metafunc.parametrize("case_file", found, ids=lambda path: f"{path.parent.name}/{path.name.split('.')[0]}")


def folder_of(config: pytest.Config) -> Path:
    """The folder to read; in CI the shared one must be there."""
    given: Path | None = config.getoption("--cases")
    if given is not None:
        if not given.is_dir():
            raise pytest.UsageError(f"--cases {given}: no such folder")
        return given
    if os.environ.get("CI") and not SHARED.is_dir():
        raise pytest.UsageError(f"CI is set, but {SHARED} is not there: the cases cannot be skipped in CI")
    return default_folder()


@dataclass
class Count:
    """What a test did with its cases; `left_out` counts them by everything they need that is not built."""

    ran: int
    left_out: dict[str, int]
    cases_left_out: int


def to_run(cases: list[Case], record_property: Any) -> list[Case]:
    """The cases that can run; what is left out is recorded for the summary."""
    kept, reasons = [], collections.Counter[str]()
    for case in cases:
        needs = not_yet().reasons(case)
        reasons.update(needs)
        if not needs:
            kept.append(case)
    count = Count(len(kept), dict(reasons), len(cases) - len(kept))
    record_property(PROPERTY, json.dumps(count.__dict__))
    return kept


def pytest_terminal_summary(terminalreporter: Any) -> None:
    counts = list(_counts(terminalreporter))
    if not counts:
        return
    reasons = collections.Counter[str]()
    for count in counts:
        reasons.update(count.left_out)
    out = sum(count.cases_left_out for count in counts)
    terminalreporter.section("recorded cases")
    terminalreporter.write_line(f"{sum(count.ran for count in counts):,} cases run, {out:,} left out (not-yet.toml)")
    for reason, number in reasons.most_common():
        terminalreporter.write_line(f"  {number:5,} need {reason}")


def _counts(terminalreporter: Any) -> Iterator[Count]:
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in getattr(report, "user_properties", []):
                if name == PROPERTY:
                    yield Count(**json.loads(value))
