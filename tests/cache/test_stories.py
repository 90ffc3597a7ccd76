"""Whatever happens in whatever order: everything kept equals its recomputation (design-notes §4, 1, 2, 3, 6, 7)."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.generators.configurations import CONFIGURATIONS
from tests.generators.effort import examples
from tests.generators.faults import no_faults
from tests.generators.story import Event, Story, stories
from vcsched.cache.verify import verify


@pytest.mark.parametrize("conf", CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())
@examples(20)
@given(events=stories)
def test_all_that_is_kept_follows_from_the_objects_after_every_event_and_session(
    conf: str, events: list[Event]
) -> None:
    with no_faults():
        story = Story(conf)
        for event in events:
            story.tell(event)
            verify(story.cache)
