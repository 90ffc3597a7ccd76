"""On random situations the product does what the oracle permits."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st

from tests.cases import product
from tests.cases.loader import Case
from tests.oracle import run as oracle
from tests.oracle.resources import from_list
from tests.oracle.task import Task

from .families import FAMILIES, Family, built
from .judge import check
from .series import Series
from .situations import Draw, Situation, situations

PHASES = (Phase.generate, Phase.shrink)
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
plain = functools.partial(
    settings, deadline=None, database=None, phases=PHASES, suppress_health_check=SLOW, verbosity=Verbosity.quiet
)
few = functools.partial(plain, derandomize=True)
many = functools.partial(plain, max_examples=3000)

by_name = functools.partial(pytest.mark.parametrize, "family", ids=lambda family: family.name)


def compare(family: Family, with_settings: Callable[[Any], Any], name: str) -> None:
    """Draw cases of a family and compare."""

    @with_settings
    @given(situations(family))
    def permitted(case: Case) -> None:
        check(case, product.run(case, profile="reference"), name)

    permitted()


@by_name(built())
def test_the_product_decides_within_what_the_oracle_permits(family: Family) -> None:
    compare(family, few(max_examples=80), family.name)


@pytest.mark.fuzz
@by_name(built())
def test_the_product_decides_within_what_the_oracle_permits_on_thousands(family: Family) -> None:
    compare(family, many(), f"fuzz-{family.name}")


def tell_stories(family: Family, with_settings: Callable[[Any], Any], name: str) -> None:
    """Draw stories of several sessions and judge each session."""

    @with_settings
    @given(st.data())
    def permitted(data: st.DataObject) -> None:
        draw = Draw(data.draw)
        series = Series(Situation(draw, family), name)
        for _ in range(draw.number(2, 4)):
            series.session()
            series.meanwhile()

    permitted()


@by_name(built())
def test_what_the_picture_keeps_over_sessions_changes_no_decision(family: Family) -> None:
    tell_stories(family, few(max_examples=25), f"series-{family.name}")


@pytest.mark.fuzz
@by_name(built())
def test_what_the_picture_keeps_over_sessions_changes_no_decision_in_thousands(family: Family) -> None:
    tell_stories(family, many(), f"fuzz-series-{family.name}")


@by_name(FAMILIES)
def test_the_oracle_never_fills_a_node_beyond_what_it_has(family: Family) -> None:
    """Of what a bound pod asks, no more is given out than was free."""

    @few(max_examples=20)
    @given(situations(family))
    def holds(case: Case) -> None:
        outcome = oracle.run(case.data, case.tiers)
        free = {obj["metadata"]["name"]: from_list(obj["status"]["allocatable"]) for obj in case.of_kind("Node")}
        tasks = [Task(obj, 0) for obj in case.of_kind("Pod")]
        for task in tasks:
            if task.node and task.status not in ("Succeeded", "Failed"):
                free[task.node].subtract(task.request)
        for task in tasks:
            node = outcome.binds.get(task.key)
            if node:
                free[node].subtract(task.request)
                asked = [name for name in task.request.names() if name != "pods"]
                assert all(free[node].get(name) >= 0 for name in asked), (task, node)

    holds()
