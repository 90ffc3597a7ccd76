"""Limits: what does not fit, and how people are told (spec 05 §1.1, §17.2)."""

from __future__ import annotations

from vcsched.model.limits import Excess, excesses, listed, spell

NONE: dict[str, float] = {}


def too_much(asked: dict[str, float], taken: dict[str, float], limit: dict[str, float]) -> list[Excess]:
    return excesses(asked, lambda name: taken.get(name, 0.0), lambda name: limit.get(name, 0.0))


def test_only_what_is_asked_for_can_be_too_much() -> None:
    assert too_much({"cpu": 1}, {"cpu": 3, "memory": 99}, {"cpu": 4, "memory": 1}) == []
    assert too_much({"cpu": 2, "memory": 0}, {"cpu": 3, "memory": 99}, {"cpu": 4, "memory": 1}) == [
        Excess("cpu", 3, 4, 2)
    ]


def test_pods_are_no_limit_and_a_missing_limit_is_nothing() -> None:
    assert too_much({"pods": 9}, NONE, NONE) == []
    assert too_much({"example.com/foo": 1}, NONE, NONE) == [Excess("example.com/foo", 0, 0, 1)]


def test_the_comparison_is_exact() -> None:
    assert too_much({"cpu": 1.0}, {"cpu": 2.05}, {"cpu": 3}) == [Excess("cpu", 2.05, 3, 1)]


def test_people_are_told_numbers_they_can_check() -> None:
    found = [Excess("cpu", 96_000, 100_000, 8_000), Excess("memory", 2.0**30, 2.0**31, 3 * 2.0**30)]

    assert spell(found, "used") == "cpu 96 of 100 used, 8 asked · memory 1Gi of 2Gi used, 3Gi asked"
    assert spell(found[:1], "used", " deserved") == "cpu 96 of 100 deserved used, 8 asked"
    assert found[0].missing == 4_000


def test_the_text_that_tools_match_on_names_the_resources() -> None:
    found = [Excess("cpu", 0, 0, 1), Excess("memory", 0, 0, 1)]

    assert listed("quota insufficient", "insufficient", found) == (
        "quota insufficient: insufficient cpu, insufficient memory"
    )
