"""Events: repeats are counted, floods combined, spam dropped, and the rest arrives behind everything else."""

from __future__ import annotations

import pytest

from tests.kube.stage import Stage, until
from vcsched.kube import events as recorder_module
from vcsched.kube.correlator import BURST, COMBINED, Correlator
from vcsched.kube.link import Event, Reference

GROUP = Reference("PodGroup", "ns", "g", "u", "scheduling.volcano.sh/v1beta1")


def event(message: str, about: Reference = GROUP) -> Event:
    return Event(about, "Warning", "Unschedulable", message)


async def test_an_event_is_made_once_and_counted_after_that() -> None:
    async with Stage() as s:
        await s.write(event("no room"))
        await s.write(event("no room"), event("no room"))
        (made,) = s.events()
        assert made["count"] == 3
        assert made["involvedObject"] == {
            "apiVersion": "scheduling.volcano.sh/v1beta1",
            "kind": "PodGroup",
            "namespace": "ns",
            "name": "g",
            "uid": "u",
        }
        assert made["metadata"]["name"].startswith("g.")
        assert len(s.server.sent("POST")) == len(s.server.sent("PATCH")) == 1


async def test_an_event_that_expired_is_made_anew() -> None:
    async with Stage() as s:
        await s.write(event("no room"))
        s.server.objects.clear()
        await s.write(event("no room"))
        (made,) = s.events()
        assert made["count"] == 2


async def test_events_of_cluster_scoped_objects_live_in_default() -> None:
    async with Stage() as s:
        await s.write(event("closed", Reference("Queue", "", "q", "u")))
        assert s.server.sent("POST")[0].path == "/api/v1/namespaces/default/events"


@pytest.mark.parametrize("status", [0, 429, 500])
async def test_an_event_that_was_not_answered_is_told_later(status: int) -> None:
    async with Stage() as s:
        s.server.fail("POST", "/events", status, times=3)
        s.link.send([event("no room")])
        await until(s.events)
        assert len(s.server.sent("POST")) == 4


async def test_an_event_that_is_refused_is_dropped() -> None:
    async with Stage() as s:
        s.server.fail("POST", "/events", 403, message="namespace is being terminated")
        await s.write(event("no room"))
        await s.write(event("other"))
        assert len(s.server.sent("POST")) == 2
        assert [e["message"] for e in s.events()] == ["other"]


async def test_a_full_queue_drops_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "WAITING", 3)
    async with Stage() as s:
        await s.write(*(event("m", Reference("Pod", "ns", f"p{i}", "u")) for i in range(5)))
        assert len(s.events()) == 3
        assert s.recorder.dropped == 2


def test_from_the_tenth_message_on_similar_events_become_one_series() -> None:
    correlator = Correlator(lambda: 0.0)
    series = [correlator.observe(event(f"message {i}")) for i in range(15)]
    alone, combined = series[:9], series[9:]
    assert len({id(s) for s in alone}) == 9
    assert len({id(s) for s in combined}) == 1
    assert combined[0] is not None
    assert (combined[0].message, combined[0].count) == (f"{COMBINED}message 14", 6)


def test_similar_events_are_told_apart_again_after_ten_quiet_minutes() -> None:
    now = [0.0]
    correlator = Correlator(lambda: now[0])
    for i in range(15):
        correlator.observe(event(f"message {i}"))
    now[0] = 601.0
    series = correlator.observe(event("message 99"))
    assert series is not None
    assert series.message == "message 99"


def test_an_object_speaks_twenty_five_times_then_once_in_five_minutes() -> None:
    now = [0.0]
    correlator = Correlator(lambda: now[0])
    told = [correlator.observe(event("same")) is not None for _ in range(BURST + 5)]
    assert told == [True] * BURST + [False] * 5
    assert correlator.observe(event("same", Reference("Pod", "ns", "other", "v"))) is not None
    now[0] = 300.0
    assert [correlator.observe(event("same")) is not None for _ in range(2)] == [True, False]


def test_series_that_were_not_used_for_longest_are_forgotten() -> None:
    correlator = Correlator(lambda: 0.0)
    first = correlator.observe(event("m"))
    for i in range(5000):
        correlator.observe(event("m", Reference("Pod", "ns", f"p{i}", "u")))
    again = correlator.observe(event("m"))
    assert first is not None
    assert again is not None
    assert again is not first
