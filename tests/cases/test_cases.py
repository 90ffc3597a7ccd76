"""Every recorded case of a built subject comes out as in the reference, or differs where we mean it to."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

import pytest

from . import deliberate, product
from .compare import differences
from .loader import HERE, files, read_file
from .reporting import Chunk, folder_of, to_run
from .tables import report


@functools.cache
def defects() -> frozenset[str]:
    """Names of the cases of defects.toml."""
    return frozenset(entry["case"] for entry in tomllib.loads((HERE / "defects.toml").read_text()).get("defect", []))


def test_cases_come_out_as_in_the_reference(chunk: Chunk, record_property: Any) -> None:
    failures = []
    for case in to_run(chunk.cases, record_property):
        if case.name in defects():
            continue
        outcome = product.run(case, profile="reference")
        lines = differences(case.expect, outcome)
        if lines:
            failures.append(report(case, outcome, lines))
    if failures:
        pytest.fail(f"{len(failures)} cases differ\n\n" + "\n\n".join(failures), pytrace=False)


def test_under_the_default_profile_only_deliberate_differences_show(case_file: Path) -> None:
    """Each difference is explained by a row of deliberate.toml, and their number is as written there."""
    unexplained, found = deliberate.explain(case_file, defects())
    if unexplained:
        pytest.fail("no row of deliberate.toml explains\n\n" + "\n\n".join(unexplained), pytrace=False)
    assert found == deliberate.expected(case_file), "run `python -m tests.cases.deliberate` and review the change"


def test_at_most_one_case_in_a_hundred_rests_on_a_defect(request: pytest.FixtureRequest) -> None:
    names = [case.name for path in files(folder_of(request.config)) for case in read_file(path)]
    assert len(defects()) <= len(names) / 100
