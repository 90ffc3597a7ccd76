"""Whether an outcome lies within what the oracle permits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cases.compare import differences
from tests.cases.loader import FORMAT, Case
from tests.cases.outcome import Outcome
from tests.cases.tables import report
from tests.oracle import run as oracle

FEW, MANY = 4, 24  # seeds: tried first, and before an outcome is called wrong
FAILURES = Path(__file__).parent / "failures"


def expectation(outcome: Outcome) -> dict[str, Any]:
    """An outcome as the `expect` of a case."""
    return {
        "binds": outcome.binds,
        "evicted": outcome.evicted,
        "pipelined": outcome.pipelined,
        "phases": outcome.phases,
        "taskCounts": outcome.task_counts,
    }


def verdict(case: Case, outcome: Outcome) -> tuple[list[str], Outcome]:
    """Nothing if some seed of the oracle, guided by the outcome, gives it; else how the nearest one differs."""
    best: tuple[list[str], Outcome] | None = None
    for seed in range(MANY):
        permitted = oracle.run(case.data, case.tiers, seed, guide=outcome.placements, mended=True)
        lines = differences(expectation(permitted), outcome)
        if best is None or len(lines) < len(best[0]):
            best = (lines, permitted)
        if not lines or (seed >= FEW and not permitted.ties):
            break
    assert best is not None
    return best


def check(case: Case, outcome: Outcome, name: str) -> None:
    """Fail with tables, and write the case to a file, if the outcome is not permitted.

    Hypothesis runs the smallest failing case last, so the file that stays holds that one.
    """
    lines, permitted = verdict(case, outcome)
    if lines:
        expected = Case(case.family, case.name, case.data | {"expect": expectation(permitted)}, case.tiers)
        path = write(expected, name)
        raise AssertionError(f"not permitted by the oracle; written to {path}\n\n{report(expected, outcome, lines)}")


def write(case: Case, name: str) -> Path:
    """Write a case as a file of the case format."""
    FAILURES.mkdir(exist_ok=True)
    path = FAILURES / f"{name}.json"
    content = {"format": FORMAT, "tierSets": {"t": case.tiers}, "cases": [case.data | {"tiers": "t"}]}
    path.write_text(json.dumps(content, indent=1))
    return path
