"""One world, however it was told; same input and seed, same output; and quiet when nothing happens.

Design-notes §4: metamorphic properties and invariants 12 and 15.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.generators.configurations import CONFIGURATIONS
from tests.generators.digest import digest
from tests.generators.effort import examples
from tests.generators.faults import no_faults
from tests.generators.portrait import portrait
from tests.generators.story import Event, Story, histories, stories
from tests.harness import SessionWorld
from vcsched.cache.compaction import compact
from vcsched.cache.handlers.pods import status_of
from vcsched.cache.verify import verify
from vcsched.columns.space import PODS
from vcsched.kube.link import Bind

KINDS = ("Node", "Pod", "PodGroup", "Queue", "PriorityClass", "Service", "Namespace")


def told_by_kind(story: Story, kinds: tuple[str, ...]) -> SessionWorld:
    """A new cache that hears of the present objects as lists, one kind after the other."""
    world = SessionWorld()
    world.now = story.world.now
    world._sent = len(world)  # the queue of every World is among the story's objects, if it is still there
    for kind in kinds:
        world.upsert(story.of(kind))
    verify(world.cache)
    return world


def come_to_rest(story: Story) -> None:
    """Sessions, each write answered and seen, until nothing is written any more."""
    for _ in range(8):
        story.settle()
        before = len(story.writes)
        story.tell(("session",))
        if len(story.writes) == before:
            return
    pytest.fail(f"still writing: {story.writes[before:]}")


@examples(24)
@given(stories)
def test_a_restart_from_lists_gives_the_world_that_events_have_kept(events: list[Event]) -> None:
    with no_faults():
        story = Story()
        story.tell_all(events)
        come_to_rest(story)
        assert portrait(told_by_kind(story, KINDS).cache) == portrait(story.cache)


@examples(18)
@given(histories, st.permutations(KINDS))
def test_kinds_may_come_in_any_order_and_the_decisions_are_the_same(events: list[Event], kinds: list[str]) -> None:
    with no_faults():
        story = Story()
        story.tell_all(events)
        one, other = told_by_kind(story, KINDS), told_by_kind(story, tuple(kinds))
        assert portrait(one.cache) == portrait(other.cache)
        for world in (one, other):
            world.session(2)
        assert one.binds() == other.binds()
        assert portrait(one.cache) == portrait(other.cache)


@examples(12)
@given(stories)
def test_the_same_events_and_seed_give_the_same_writes(events: list[Event]) -> None:
    writes = []
    for _ in range(2):
        story = Story(seed=7)
        story.tell_all(events)
        story.tell(("session",))
        writes.append(story.writes)
    assert writes[0] == writes[1]


@examples(12)
@given(stories)
def test_giving_rows_back_changes_no_decision(events: list[Event]) -> None:
    writes = []
    for compacts in (False, True):
        with no_faults():
            story = Story(seed=7)
            for event in events:
                if event[0] == "compaction":
                    continue
                if compacts:
                    compact(story.cache.picture)
                    verify(story.cache)
                story.tell(event)
            story.tell(("session",))
            writes.append(story.writes)
    assert writes[0] == writes[1]


def test_tombstones_are_given_back_once_they_are_many(world: SessionWorld) -> None:
    for number in range(100):
        node = world.node(f"spot-{number}", cpu=4)
        world.sync()
        if number < 90:
            world.delete(node)
    world.gang("late", pods=10, cpu=4)
    world.session()
    assert world.cache.picture.nodes.n == 10
    assert world.bound("late") == 10


@examples(18)
@given(stories)
def test_a_job_that_is_skipped_would_fail_again(events: list[Event]) -> None:
    """A job whose certificate holds finds nothing when it is tried all the same (invariant 14)."""
    story = Story()
    story.tell_all(events)
    story.tell(("session",))
    picture = story.cache.picture
    skipped = {
        key: job.phase
        for key, job in picture.jobs.items()
        if job.blocked is not None
        and job.blocked.changes == picture.changes
        # one that fell back at the close is skipped by allocate, but not by enqueue
        and job.pending_phase == (job.blocked.action == "enqueue")
    }
    for key in skipped:
        picture.jobs[key].blocked = None
    before = len(story.writes)
    story.tell(("session",))
    assert not skipped.keys() & {write.gang for write in story.writes[before:] if isinstance(write, Bind)}
    assert skipped == {key: picture.jobs[key].phase for key in skipped}


@examples(18)
@given(events=stories)
@pytest.mark.parametrize("conf", CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())
def test_all_that_is_assumed_is_confirmed_or_reverted_once_everything_is_answered(
    conf: str, events: list[Event]
) -> None:
    """Invariant 11."""
    story = Story(conf)
    story.tell_all(events)
    story.settle()
    picture = story.cache.picture
    assert story.cache.writes_in_flight == 0
    assert [task for task in picture.tasks.values() if task.assumed or task.write] == []
    assert [job for job in picture.jobs.values() if job.status_write] == []
    for task in picture.tasks.values():
        assert task.status == status_of(task.pod), task
    for job in picture.jobs.values():
        assert job.obj is None or job.phase == job.obj.status.phase, job


@examples(18)
@given(stories)
def test_a_world_that_is_left_alone_becomes_quiet(events: list[Event]) -> None:
    """Sessions come to rest, and then write nothing, say nothing and change no column."""
    with no_faults():
        story = Story()
        story.tell_all(events)
        come_to_rest(story)
        before = len(story.writes)
        for job in story.cache.picture.attached.values():
            assert job.obj is None or job.phase == job.obj.status.phase, job
        picture = story.cache.picture
        still, log = digest(story.cache), picture.room_log.position
        story.tell(("session",))
        assert story.writes[before:] == []
        assert digest(story.cache) == still
        # a gang that waits for pods that are leaving, or has pods that ask for nothing, holds its room in each session
        holds = bool(picture.best_effort) or picture.nodes.releasing[PODS].any()
        assert picture.room_log.position == log or holds


SCRIPT = """
from tests.generators.story import Story
story = Story(seed=3)
for number in range(120):
    kind = number * 7919 % 101
    story.tell((("node", number, kind), ("pod", number, number // 3, kind), ("group", number, kind),
                ("bare pod", number, kind, number), ("queue", number, kind))[number % 5])
    if number % 20 == 19:
        story.tell(("session",))
        story.tell(("answers", 0))
print(story.writes)
"""


def test_the_seed_of_hashes_changes_nothing() -> None:
    root = Path(__file__).parents[2]
    said: list[Any] = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            cwd=root,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert "Bind(" in said[0]
    assert said[0] == said[1]
