"""Every recorded case of a built subject comes out as in the reference, or differs where we mean it to."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.generators.judge import verdict

from . import deliberate, product
from .compare import differences
from .loader import HERE, Case, files, read_file
from .needs import not_yet
from .outcome import Outcome
from .reporting import Chunk, folder_of, to_run
from .tables import report


@functools.cache
def defects() -> frozenset[str]:
    """Names of the cases of defects.toml."""
    return frozenset(entry["case"] for entry in tomllib.loads((HERE / "defects.toml").read_text())["defect"])


def test_cases_come_out_as_in_the_reference(chunk: Chunk, record_property: Any) -> None:
    failures = []
    for case in to_run(chunk.cases, record_property):
        outcome = product.run(case, profile="reference")
        lines = differences(case.expect, outcome)
        if case.name in defects():
            lines = without_the_defect(case, lines, outcome)
        if lines:
            failures.append(report(case, outcome, lines))
    if failures:
        pytest.fail(f"{len(failures)} cases differ\n\n" + "\n\n".join(failures), pytrace=False)


def without_the_defect(case: Case, lines: list[str], outcome: Outcome) -> list[str]:
    """What is wrong with a case of the defect list: it must be as the oracle has it without the defects."""
    return verdict(case, outcome)[0] if lines else ["comes out as recorded: remove it from defects.toml"]


def test_under_the_default_profile_only_deliberate_differences_show(
    case_file: Path, request: pytest.FixtureRequest
) -> None:
    """Each difference is explained by a row of deliberate.toml, and their number is as written there."""
    own_folder = request.config.getoption("--cases") is None
    explanation = deliberate.by_known_row if own_folder else deliberate.by_any_row
    unexplained, found = deliberate.explain(case_file, defects(), explanation)
    if unexplained:
        pytest.fail("no row of deliberate.toml explains\n\n" + "\n\n".join(unexplained), pytrace=False)
    if own_folder:
        assert found == deliberate.expected(case_file), "run python -m tests.cases.deliberate, review the change"


def test_at_most_one_case_in_a_hundred_rests_on_a_defect(request: pytest.FixtureRequest) -> None:
    names = [case.name for path in files(folder_of(request.config)) for case in read_file(path)]
    assert len(defects() & set(names)) <= len(names) / 100


def test_what_is_not_built_is_named_only_where_a_case_or_nobody_could_need_it() -> None:
    """A list of not-yet.toml may not name what every case has, which would leave all of them out."""
    always = {"gang", "priority", "predicates", "allocate", "Pod", "Node", "Queue", "PodGroup"}
    missing = not_yet()
    assert not always & (missing.plugins | missing.actions | missing.kinds)
