"""The mutations stay in step with the oracle, and a broken rule is noticed."""

from __future__ import annotations

import pytest

from tests.cases.loader import default_folder

from .mutate import HERE, mutations, noticed_by


@pytest.mark.parametrize("file", sorted({mutation.file for mutation in mutations()}))
def test_every_mutation_applies_to_exactly_one_place(file: str) -> None:
    text = (HERE / file).read_text()
    for mutation in mutations():
        if mutation.file == file:
            compile(mutation.apply(text), file, "exec")


def test_cases_notice_when_victims_die_for_a_job_that_does_not_start() -> None:
    mutation = next(m for m in mutations() if m.rule == "04 §6.2 committed only if the job is pipelined")
    actions = next((default_folder() / "targeted").glob("actions.*"))
    assert "targeted/actions" in noticed_by(mutation, [actions])
