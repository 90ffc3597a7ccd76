"""From random full clusters with a fixed demand: evictions end, are lawful, and nobody goes in vain.

What is checked after every session, and at the end, is said in `tests.actions.laws`.
"""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, seed, settings

from tests.actions.laws import Laws
from tests.actions.situations import CONFIGURATIONS, Situation, situations
from tests.generators.effort import examples


@pytest.mark.parametrize("conf", CONFIGURATIONS)
def test_evictions_come_to_an_end_and_break_no_law(conf: str) -> None:
    @seed(1)
    @settings(examples(25), suppress_health_check=[HealthCheck.too_slow])
    @given(situations(conf))
    def play(situation: Situation) -> None:
        Laws(situation.world()).play()

    play()
