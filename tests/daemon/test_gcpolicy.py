"""The garbage collector runs between sessions only."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from vcsched.daemon import gcpolicy
from vcsched.daemon.gcpolicy import GcPolicy


class Cycle:
    """Something that only the collector can free."""

    freed = 0

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        Cycle.freed += 1


@pytest.fixture
def policy() -> Iterator[GcPolicy]:
    policy = GcPolicy()
    policy.start()
    yield policy
    policy.stop()


def test_the_old_generation_is_never_collected_by_itself(policy: GcPolicy) -> None:
    before = gc.get_stats()[2]["collections"]
    keep = [[i] for i in range(400_000)]
    assert gc.get_stats()[2]["collections"] == before
    assert len(keep) == 400_000


def test_the_picture_is_frozen_once_complete(policy: GcPolicy) -> None:
    picture = [[i] for i in range(10_000)]
    policy.synced()
    assert gc.get_freeze_count() >= len(picture)


def test_what_a_session_leaves_is_freed_in_the_pause(policy: GcPolicy) -> None:
    policy.synced()
    Cycle.freed = 0
    Cycle()
    assert Cycle.freed == 0
    policy.between_sessions()
    assert Cycle.freed == 1


def test_once_in_a_while_frozen_cycles_are_found_too(policy: GcPolicy, monkeypatch: pytest.MonkeyPatch) -> None:
    cycle = Cycle()
    policy.synced()
    Cycle.freed = 0
    del cycle
    policy.between_sessions()
    assert Cycle.freed == 0
    monkeypatch.setattr(gcpolicy, "FULL_EVERY_S", 0.0)
    policy.between_sessions()
    assert Cycle.freed == 1
    assert gc.get_freeze_count() > 0


def test_stopping_gives_the_usual_way_back() -> None:
    before = gc.get_threshold()
    policy = GcPolicy()
    policy.start()
    assert gc.get_threshold() != before
    policy.synced()
    policy.stop()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
