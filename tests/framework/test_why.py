"""Why a point answers as it does: asked of the plugin that said so."""

from __future__ import annotations

import pytest

from vcsched.framework.arguments import Arguments
from vcsched.framework.plugin import Plugin
from vcsched.framework.points import Opening, Points


class Even(Plugin):
    name = "even"


class Small(Plugin):
    name = "small"


@pytest.fixture
def points() -> Points:
    points = Points()
    points.registry.opening = Opening("even", 0, lambda switch: True)
    even = Even(Arguments())
    points.allocatable.add(even, lambda number: number % 2 == 0)
    points.overused.add(even, lambda number: number % 2 == 1, why=lambda number: f"{number} is odd")
    points.registry.opening = Opening("small", 0, lambda switch: True)
    small = Small(Arguments())
    points.allocatable.add(small, lambda number: number < 5, why=lambda number: f"{number} of at most 4")
    return points


def test_the_first_plugin_that_refuses_is_asked_why(points: Points) -> None:
    assert points.allocatable.why(8) == "8 of at most 4"
    assert points.overused.why(3) == "3 is odd"


def test_a_plugin_that_gives_no_sentence_leaves_it_empty(points: Points) -> None:
    assert points.allocatable.why(9) == ""


def test_where_nothing_is_wrong_there_is_no_reason(points: Points) -> None:
    assert points.allocatable.why(2) == ""
    assert points.overused.why(2) == ""
