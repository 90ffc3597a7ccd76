"""Status writes: ours only, newest wins, and they work under a role without patch as well as with it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.kube.fake import Raw
from tests.kube.stage import Stage, pg_path, pod, pod_path, until
from vcsched.kube.known import Known
from vcsched.kube.link import Bind, Condition, PodGroupStatus, PodStatus, QueueStatus
from vcsched.kube.objects import Pod, PodGroup, Queue, decode

QUEUE = "/apis/scheduling.volcano.sh/v1beta1/queues/q"
UNSCHEDULABLE = Condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available")
RBAC = 'podgroups.scheduling.volcano.sh "g" is forbidden: User "s" cannot patch resource'


def group(**status: Any) -> Raw:
    return {
        "metadata": {"name": "g", "namespace": "ns", "uid": "u", "labels": {"theirs": "kept"}},
        "spec": {"minMember": 2, "unread": {"kept": True}},
        "status": status,
    }


def pg_status(no: int, version: str = "", annotations: dict[str, str] | None = None, **status: Any) -> Any:
    said = tuple(condition["type"] for condition in status.get("conditions", ()))
    return PodGroupStatus(no, "ns", "g", "u", version, status, annotations, said)


def forbid(s: Stage, *verbs: str) -> None:
    for verb in verbs:
        for path in ("/podgroups/g$", "/pods/[^/]*/status", "/queues/q/status"):
            s.server.fail(verb, path, 403, times=1000, message=RBAC)


async def test_a_pod_condition_leaves_foreign_ones_and_keeps_its_transition_time() -> None:
    old = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Old",
        "lastTransitionTime": "2020-01-01T00:00:00Z",
    }
    theirs = {"type": "Theirs", "status": "True"}
    for verbs in ((), ("PATCH",)):
        known: Known[Pod] = Known(Pod, lambda _: None)
        async with Stage(known={Pod: known}) as s:
            forbid(s, *verbs)
            raw = s.server.put(pod_path("a"), {**pod("a"), "status": {"conditions": [theirs, old]}})
            known._take("ns/a", as_pod(raw))
            results = await s.write(PodStatus(1, "ns", "a", "uid-a", (UNSCHEDULABLE,), "n1"))
            assert results[1].ok
            assert results[1].obj.status.nominated_node_name == "n1"
            status = s.server.objects[pod_path("a")]["status"]
            assert status["conditions"][0] == theirs
            ours = status["conditions"][1]
            assert (ours["reason"], ours["lastTransitionTime"]) == ("Unschedulable", "2020-01-01T00:00:00Z")


async def test_a_condition_that_changes_its_status_gets_a_new_transition_time() -> None:
    for verbs in ((), ("PATCH",)):
        async with Stage() as s:
            forbid(s, *verbs)
            s.pods("a")
            await s.write(PodStatus(1, "ns", "a", "uid-a", (UNSCHEDULABLE,)))
            (ours,) = s.server.objects[pod_path("a")]["status"]["conditions"]
            assert ours["lastTransitionTime"].startswith("20")


async def test_an_empty_nomination_clears_and_none_leaves_it() -> None:
    for verbs in ((), ("PATCH",)):
        async with Stage() as s:
            forbid(s, *verbs)
            s.server.put(pod_path("a"), {**pod("a"), "status": {"nominatedNodeName": "n1"}})
            await s.write(PodStatus(1, "ns", "a", "uid-a", (UNSCHEDULABLE,)))
            assert s.server.objects[pod_path("a")]["status"]["nominatedNodeName"] == "n1"
            await s.write(PodStatus(2, "ns", "a", "uid-a", (), ""))
            assert "nominatedNodeName" not in s.server.objects[pod_path("a")]["status"]


async def test_a_namesake_of_a_pod_gets_no_condition() -> None:
    for verbs in ((), ("PATCH",)):
        async with Stage() as s:
            forbid(s, *verbs)
            s.pods("a")
            results = await s.write(PodStatus(1, "ns", "a", "old", (UNSCHEDULABLE,)))
            assert (results[1].ok, results[1].status) == (False, 404)
            assert "conditions" not in s.server.objects[pod_path("a")]["status"]


@pytest.mark.parametrize(
    "forbidden", [(), ("PATCH",), ("PATCH", "GET")], ids=["our role", "no patch", "the reference's role"]
)
async def test_a_podgroup_status_is_written_and_the_rest_stays(forbidden: tuple[str, ...]) -> None:
    async with Stage() as s:
        forbid(s, *forbidden)
        s.server.put(pg_path("g"), group(phase="Pending", other=1))
        written = pg_status(1, annotations={"a": "b"}, phase="Inqueue", running=2)
        results = await s.write(written)
        assert results[1].ok
        assert results[1].obj.status.phase == "Inqueue"
        found = s.server.objects[pg_path("g")]
        assert found["status"] == {"phase": "Inqueue", "running": 2, "other": 1}
        assert found["spec"] == group()["spec"]
        assert found["metadata"]["labels"] == {"theirs": "kept"}
        assert found["metadata"]["annotations"] == {"a": "b"}


async def test_a_missing_right_is_learnt_once() -> None:
    async with Stage() as s:
        forbid(s, "PATCH", "GET")
        s.server.put(pg_path("g"), group())
        await s.write(pg_status(1, phase="Inqueue"))
        await s.write(pg_status(2, phase="Running"))
        assert len(s.server.sent("PATCH", "podgroups")) == 1
        assert len(s.server.sent("GET", "podgroups/g")) == 1
        assert len(s.server.sent("PUT", "podgroups")) == 2
        put = s.server.sent("PUT", "podgroups")[0].body
        assert (put["kind"], put["apiVersion"]) == ("PodGroup", "scheduling.volcano.sh/v1beta1")


async def test_a_write_decided_on_old_conditions_is_laid_into_the_newer_object() -> None:
    for verbs in ((), ("PATCH", "GET")):
        async with Stage() as s:
            forbid(s, *verbs)
            told = s.server.put(pg_path("g"), group())["metadata"]["resourceVersion"]
            theirs = {"type": "Theirs", "status": "True"}
            s.server.put(pg_path("g"), group(conditions=[theirs, {"type": "Scheduled", "status": "x"}]))
            ours = {"type": "Scheduled", "status": "True"}
            results = await s.write(pg_status(1, told, conditions=[ours], phase="Running"))
            assert results[1].ok
            assert s.server.objects[pg_path("g")]["status"]["conditions"] == [theirs, ours]


async def test_a_condition_of_others_that_was_only_sent_along_does_not_take_back_what_they_said_since() -> None:
    for verbs in ((), ("PATCH", "GET")):
        async with Stage() as s:
            forbid(s, *verbs)
            old, new = ({"type": "Theirs", "status": "True", "reason": reason} for reason in ("Old", "New"))
            ours = {"type": "Scheduled", "status": "True"}
            told = s.server.put(pg_path("g"), group(conditions=[old]))["metadata"]["resourceVersion"]
            s.server.put(pg_path("g"), group(conditions=[new]))
            status = {"phase": "Running", "conditions": [old, ours]}
            results = await s.write(PodGroupStatus(1, "ns", "g", "u", told, status, said=("Scheduled",)))
            assert results[1].ok
            assert s.server.objects[pg_path("g")]["status"]["conditions"] == [new, ours]


async def test_a_put_that_conflicts_is_repeated_on_the_fresh_object() -> None:
    async with Stage() as s:
        forbid(s, "PATCH")
        s.server.put(pg_path("g"), group())
        s.server.fail("PUT", "/podgroups/g", 409, times=2)
        results = await s.write(pg_status(1, phase="Running"))
        assert results[1].ok
        assert len(s.server.sent("GET", "/podgroups/g")) == 3


async def test_a_write_that_takes_two_requests_is_not_timed_as_one_slow_answer() -> None:
    """The I/O loop rests against what an answer takes; a read before the write would double that."""
    async with Stage() as s:
        forbid(s, "PATCH")
        s.server.put(pg_path("g"), group())
        await s.write(pg_status(1, phase="Pending"))
        timed: list[float] = []
        s.client.on_written = timed.append
        assert (await s.write(pg_status(2, phase="Running")))[2].ok
        assert [seen.method for seen in s.server.requests[-2:]] == ["GET", "PUT"]
        assert len(timed) == 1


async def test_the_newest_unread_version_guards_the_write() -> None:
    known: Known[PodGroup] = Known(PodGroup, lambda _: None)
    async with Stage(known={PodGroup: known}) as s:
        first = s.server.put(pg_path("g"), group(phase="Pending"))
        known._take("ns/g", as_group(first))
        second = s.server.put(pg_path("g"), {**group(phase="Pending"), "unread": 1})
        known._take("ns/g", as_group(second))
        told = first["metadata"]["resourceVersion"]
        await s.write(pg_status(1, told, conditions=[], phase="Running"))
        (patch,) = s.server.sent("PATCH")
        assert patch.body["metadata"]["resourceVersion"] == second["metadata"]["resourceVersion"]


async def test_statuses_that_wait_are_merged_and_the_newest_wins() -> None:
    async with Stage(parallel=1) as s:
        s.server.put(pg_path("g"), group())
        held = asyncio.Event()
        held_one = s.server.fail("PATCH", "/podgroups/g", 500, wait=held)
        s.link.send([pg_status(1, phase="Pending")])
        await until(lambda: not held_one.times)
        s.link.send([pg_status(2, phase="Inqueue", running=1), pg_status(3, phase="Running")])
        await asyncio.sleep(0.01)
        held.set()
        assert await s.writer.drain(60)
        results = s.results()
        assert sorted(results) == [1, 2, 3]
        assert all(wrote.ok for wrote in results.values())
        assert s.server.objects[pg_path("g")]["status"] == {"phase": "Running", "running": 1}
        assert len(s.server.sent("PATCH")) == 2


async def test_one_write_of_an_object_is_under_way_at_a_time() -> None:
    async with Stage(parallel=8) as s:
        s.server.put(pg_path("g"), group())
        s.server.delay_s = 0.005
        for i in range(5):
            s.link.send([pg_status(i, phase=f"P{i}")])
            await asyncio.sleep(0.002)
        assert await s.writer.drain(60)
        assert s.server.most_in_flight == 1
        assert s.server.objects[pg_path("g")]["status"]["phase"] == "P4"


async def test_a_bind_overtakes_the_unschedulable_condition_of_its_pod() -> None:
    async with Stage(parallel=1) as s:
        s.pods("a", "b")
        s.link.send([PodStatus(1, "ns", "a", "uid-a", (UNSCHEDULABLE,))])
        s.link.send([Bind(2, "ns", "a", "uid-a", "n1")])
        assert await s.writer.drain(60)
        results = s.results()
        assert (results[1].ok, results[2].ok) == (False, True)
        assert "overtaken" in results[1].reason
        assert not s.server.sent("PATCH", "/pods/a")


async def test_a_condition_that_has_to_be_repeated_yields_to_a_bind() -> None:
    async with Stage() as s:
        s.pods("a")
        held = asyncio.Event()
        fault = s.server.fail("PATCH", "/pods/a", 500, wait=held)
        s.link.send([PodStatus(1, "ns", "a", "uid-a", (UNSCHEDULABLE,))])
        await until(lambda: not fault.times)
        s.link.send([Bind(2, "ns", "a", "uid-a", "n1")])
        await asyncio.sleep(0.01)
        assert not s.server.sent("POST", "binding"), "the bind must wait for the write under way"
        held.set()
        assert await s.writer.drain(60)
        results = s.results()
        assert (results[1].ok, results[2].ok) == (False, True)
        assert len(s.server.sent("PATCH", "/pods/a")) == 1


@pytest.mark.parametrize("forbidden", [(), ("PATCH",)], ids=["our role", "the reference's role"])
async def test_a_queue_loses_what_is_no_longer_allocated_and_keeps_its_state(forbidden: Any) -> None:
    async with Stage() as s:
        forbid(s, *forbidden)
        status = {"state": "Open", "allocated": {"cpu": "1", "nvidia.com/gpu": "8"}}
        s.server.put(QUEUE, {"metadata": {"name": "q", "uid": "q"}, "status": status})
        results = await s.write(QueueStatus(1, "q", {"cpu": "2"}))
        assert results[1].ok
        assert s.server.objects[QUEUE]["status"] == {"state": "Open", "allocated": {"cpu": "2"}}


async def test_a_reply_is_news_once_and_never_brings_back_what_is_gone() -> None:
    told: list[Any] = []
    known: Known[Queue] = Known(Queue, told.append)
    async with Stage(known={Queue: known}) as s:
        raw = s.server.put(QUEUE, {"metadata": {"name": "q", "uid": "q"}, "status": {"state": "Open"}})
        known.upsert(to_bytes(raw))
        results = await s.write(QueueStatus(1, "q", {"cpu": "2"}))
        assert results[1].obj.status.allocated == {"cpu": "2"}
        known.upsert(to_bytes(s.server.objects[QUEUE]))  # the watch repeats the reply
        assert len(told) == 1
        known.remove(to_bytes(s.server.objects[QUEUE]))
        results = await s.write(QueueStatus(2, "q", {"cpu": "3"}))
        assert (results[2].ok, results[2].obj) == (True, None)


def to_bytes(raw: Raw) -> bytes:
    return json.dumps(raw).encode()


def as_pod(raw: Raw) -> Pod:
    return decode(Pod, to_bytes(raw))


def as_group(raw: Raw) -> PodGroup:
    return decode(PodGroup, to_bytes(raw))
