"""Binds and evictions: each ends in one truthful result, whatever the server answers or fails to answer."""

from __future__ import annotations

import asyncio
import time

import pytest

from tests.kube.stage import QUICK, Stage, pod_path, until
from vcsched.kube.link import Bind, Condition, Evict
from vcsched.kube.settings import Patience

EVICTED = (Condition("Ready", "False", "Evict", "because"), Condition("DisruptionTarget", "True", "P", "m"))


def bind(no: int, name: str, node: str = "n1", gang: str = "", uid: str = "") -> Bind:
    return Bind(no, "ns", name, uid or f"uid-{name}", node, gang=gang)


def evict(no: int, name: str, uid: str = "") -> Evict:
    return Evict(no, "ns", name, uid or f"uid-{name}", EVICTED, "Pod is evicted, because of preempt")


async def test_a_bind_names_pod_uid_node_and_annotations_and_is_told_as_an_event() -> None:
    async with Stage() as s:
        s.pods("a")
        message = bind(1, "a")
        message.annotations = {"k": "v"}
        results = await s.write(message)
        assert (results[1].ok, results[1].status) == (True, 201)
        (sent,) = s.server.sent("POST", "/pods/a/binding")
        assert sent.body["metadata"] == {
            "name": "a",
            "namespace": "ns",
            "uid": "uid-a",
            "annotations": {"k": "v"},
        }
        assert sent.body["target"]["name"] == "n1"
        (event,) = s.events()
        assert event["message"] == "Successfully assigned ns/a to n1"
        assert (event["reason"], event["type"], event["source"]) == (
            "Scheduled",
            "Normal",
            {"component": "volcano"},
        )
        assert results[1].seconds > 0
        assert results[1].ended <= time.time()


@pytest.mark.parametrize("status", [0, 500, 504])
async def test_a_bind_whose_answer_was_lost_is_found_to_have_happened(status: int) -> None:
    async with Stage() as s:
        s.pods("a")
        s.server.fail("POST", "/binding", status, applied=True)
        results = await s.write(bind(1, "a"))
        assert results[1].ok
        assert len(s.server.sent("POST", "/binding")) == 1
        assert len(s.events()) == 1


@pytest.mark.parametrize("status", [0, 429, 500, 503, 504, 409])
async def test_a_bind_that_did_not_happen_is_tried_again(status: int) -> None:
    async with Stage() as s:
        s.pods("a")
        s.server.fail("POST", "/binding", status, times=2)
        results = await s.write(bind(1, "a"))
        assert results[1].ok
        assert s.server.objects[pod_path("a")]["spec"]["nodeName"] == "n1"
        assert len(s.server.sent("POST", "/binding")) == 3


async def test_a_bind_that_is_never_answered_is_looked_at() -> None:
    async with Stage(try_s=0.1) as s:
        s.pods("a")
        s.server.fail("POST", "/binding", 0, applied=True, wait=asyncio.Event())
        results = await s.write(bind(1, "a"))
        assert results[1].ok


async def test_429_is_repeated_no_sooner_than_the_server_asks() -> None:
    async with Stage() as s:
        s.pods("a")
        s.server.fail("POST", "/binding", 429, headers={"Retry-After": "1"})
        loop = asyncio.get_running_loop()
        began = loop.time()
        results = await s.write(bind(1, "a"))
        assert results[1].ok
        assert loop.time() - began >= 1.0


async def test_a_bind_of_a_pod_that_is_gone_taken_or_replaced_fails_at_once_with_the_reason() -> None:
    async with Stage() as s:
        s.pods("taken", nodeName="other")
        s.pods("replaced")
        results = await s.write(bind(1, "gone"), bind(2, "taken"), bind(3, "replaced", uid="old"))
        assert [results[no].ok for no in (1, 2, 3)] == [False] * 3
        assert results[1].status == 404
        assert "already assigned to node other" in results[2].reason
        assert "replaced" in results[3].reason
        assert len(s.server.sent("POST", "/binding")) == 3


async def test_a_refused_bind_is_final() -> None:
    async with Stage() as s:
        s.pods("a")
        s.server.fail("POST", "/binding", 422, message="no such node")
        results = await s.write(bind(1, "a"))
        assert (results[1].ok, results[1].status, results[1].reason) == (False, 422, "no such node (422 )")


async def test_a_write_ends_at_its_deadline() -> None:
    async with Stage(patience=Patience(deadline_s=0.1, pause_s=0.02, pause_most_s=0.02)) as s:
        s.pods("a")
        s.server.fail("POST", "/binding", 503, times=1000)
        results = await s.write(bind(1, "a"))
        assert not results[1].ok
        assert "given up after" in results[1].reason


async def test_unsent_binds_of_a_gang_are_held_after_one_failed_and_other_gangs_go_on() -> None:
    async with Stage(parallel=1) as s:
        names = [f"g{i}" for i in range(1, 5)]
        s.pods(*names, "other", "single")
        s.server.remove(pod_path("g2"))
        gang = [bind(i + 1, name, gang="ns/g") for i, name in enumerate(names)]
        results = await s.write(*gang, bind(8, "other", gang="ns/h"), bind(9, "single"))
        assert {no: wrote.ok for no, wrote in results.items()} == {
            1: True,
            2: False,
            3: False,
            4: False,
            8: True,
            9: True,
        }
        assert results[3].reason == "held: the bind of ns/g2 failed"
        assert not s.server.sent("POST", "/pods/g[34]/binding")
        again = await s.write(bind(11, "g3", gang="ns/g"))
        assert again[11].ok


async def test_binds_go_before_evictions_and_events_go_last() -> None:
    async with Stage(parallel=1) as s:
        s.pods("a", "b", "c", "d")
        await s.write(evict(1, "a"), bind(2, "b"), evict(3, "c"), bind(4, "d"))
        kinds = [
            "bind" if r.path.endswith("/binding") else "event" if r.path.endswith("/events") else r.method
            for r in s.server.requests
        ]
        assert kinds == ["bind"] * 2 + ["PATCH", "DELETE"] * 2 + ["event"] * 4


async def test_no_more_writes_are_under_way_than_allowed() -> None:
    async with Stage(parallel=8) as s:
        names = [f"p{i}" for i in range(200)]
        s.pods(*names)
        s.server.held = asyncio.Event()
        s.link.send([bind(i, name) for i, name in enumerate(names)])
        await until(lambda: s.server.in_flight == 8)
        s.server.delay_s = 0.002
        s.server.held.set()
        results = await s.write()
        assert all(wrote.ok for wrote in results.values())
        assert len(results) == 200
        assert s.server.most_in_flight == 8
        assert len(s.events()) == 200


async def test_an_eviction_sets_conditions_then_deletes_this_very_pod() -> None:
    async with Stage() as s:
        s.pods("a")
        results = await s.write(evict(1, "a"))
        assert results[1].ok
        patch, delete = s.server.sent("PATCH", "/pods/a/status")[0], s.server.sent("DELETE")[0]
        assert [c["type"] for c in patch.body["status"]["conditions"]] == ["Ready", "DisruptionTarget"]
        assert delete.body["preconditions"] == {"uid": "uid-a"}
        (event,) = s.events()
        assert (event["type"], event["reason"]) == ("Warning", "Evict")
        assert event["message"] == "Pod is evicted, because of preempt"


async def test_evicting_a_pod_that_is_gone_is_a_success() -> None:
    async with Stage() as s:
        results = await s.write(evict(1, "a"))
        assert results[1].ok
        assert not s.events()


async def test_an_eviction_does_not_touch_a_namesake() -> None:
    async with Stage() as s:
        s.pods("a")
        results = await s.write(evict(1, "a", uid="old"))
        assert results[1].ok
        assert pod_path("a") in s.server.objects


@pytest.mark.parametrize("status", [400, 403, 500, 0])
async def test_conditions_that_cannot_be_written_do_not_stop_an_eviction(status: int) -> None:
    async with Stage() as s:
        s.pods("a")
        s.server.fail("PATCH", "/status", status, times=100)
        s.server.fail("PUT", "/status", status, times=100)
        results = await s.write(evict(1, "a"))
        assert results[1].ok
        assert pod_path("a") not in s.server.objects


@pytest.mark.parametrize("applied", [True, False])
async def test_a_deletion_whose_answer_was_lost_is_repeated(applied: bool) -> None:
    async with Stage() as s:
        s.pods("a")
        s.server.fail("DELETE", "/pods/a", 500, applied=applied)
        results = await s.write(evict(1, "a"))
        assert results[1].ok
        assert pod_path("a") not in s.server.objects


async def test_behind_the_fence_nothing_leaves_and_every_number_is_answered() -> None:
    async with Stage(parallel=2) as s:
        names = [f"p{i}" for i in range(20)]
        s.pods(*names)
        held = asyncio.Event()
        s.server.fail("POST", "/binding", 500, times=2, wait=held)
        s.link.send([bind(i, name) for i, name in enumerate(names)])
        await until(lambda: s.server.in_flight == 2)
        s.gate.shut("the lease is lost")
        s.writer.give_up("fenced: the lease is lost")
        held.set()
        await until(lambda: not s.writer.unfinished)
        s.link.send([bind(100, "p19")])
        await until(lambda: any(r.no == 100 for r in s.link._in))  # type: ignore[union-attr]
        results = s.results()
        assert len(results) == 21
        assert not any(wrote.ok for wrote in results.values())
        assert "fenced" in results[100].reason
        assert len(s.server.requests) == 2


async def test_a_lease_that_ran_out_is_a_fence_by_itself() -> None:
    async with Stage() as s:
        s.pods("a")
        s.gate.valid_until = 0.0
        s.link.send([bind(1, "a")])
        await until(lambda: s.link._in)
        assert not s.results()[1].ok
        assert not s.server.requests


async def test_a_drain_that_takes_too_long_gives_up_what_waits() -> None:
    async with Stage(parallel=1, patience=QUICK) as s:
        s.pods("a", "b")
        held = asyncio.Event()
        s.server.fail("POST", "/pods/a/binding", 500, wait=held)
        s.link.send([bind(1, "a"), bind(2, "b")])
        assert not await s.writer.drain(0.1)
        assert "not written before the end" in s.results()[2].reason
        held.set()


async def test_events_do_not_hold_up_the_end() -> None:
    async with Stage(patience=Patience(events_s=0.05)) as s:
        s.pods("a")
        held = asyncio.Event()
        s.server.fail("POST", "/events", 500, wait=held)
        s.link.send([bind(1, "a")])
        assert await s.writer.drain(60)
        assert s.results()[1].ok
        held.set()
