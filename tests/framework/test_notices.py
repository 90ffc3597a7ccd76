"""Notices: the same thing is not said in every session."""

from __future__ import annotations

from vcsched.framework.notices import REPEAT_S, Notices


def test_a_thing_is_said_when_it_is_new_or_has_changed() -> None:
    notices = Notices()
    said = []
    for session, what in enumerate(["cpu", "cpu", "memory", "memory", "cpu"]):
        notices.begin()
        said.append(notices.is_due("job", what, float(session)))

    assert said == [True, False, True, False, True]


def test_a_thing_is_said_again_after_a_while() -> None:
    notices = Notices()
    times = [0.0, 1.0, REPEAT_S, REPEAT_S + 1, 2 * REPEAT_S]
    said = []
    for now in times:
        notices.begin()
        said.append(notices.is_due("job", "cpu", now))

    assert said == [True, False, True, False, True]


def test_who_is_not_asked_about_for_some_sessions_hears_nothing_twice_for_that() -> None:
    notices = Notices()
    notices.begin()
    notices.is_due("job", "cpu", 0.0)
    for _ in range(3):
        notices.begin()

    assert not notices.is_due("job", "cpu", 1.0)


def test_what_was_said_long_ago_is_forgotten() -> None:
    notices = Notices()
    for number in range(3):
        notices.begin()
        notices.is_due(f"job-{number}", "cpu", number * REPEAT_S)
    notices.begin()

    assert len(notices._said) == 1
