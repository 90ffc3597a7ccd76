"""What happens once at start: queues are made, rights are asked for, limits hold."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from tests.kube.fake import FakeServer, Seen, answer
from tests.kube.stage import Stage
from vcsched.kube import parallelism, probe
from vcsched.kube.errors import ApiError, FencedError
from vcsched.kube.objects import Node, PodGroup
from vcsched.kube.parallelism import Parallelism
from vcsched.kube.queues import ensure_queue
from vcsched.kube.ratelimit import Bucket

QUEUES = "/apis/scheduling.volcano.sh/v1beta1/queues"


async def test_a_queue_is_made_once_and_left_as_it_is_after_that() -> None:
    async with Stage() as s:
        await ensure_queue(s.client, "root", False)
        assert s.server.objects[f"{QUEUES}/root"]["spec"] == {"weight": 1, "reclaimable": False}
        s.server.put(f"{QUEUES}/root", {"metadata": {"name": "root"}, "spec": {"weight": 7}})
        await ensure_queue(s.client, "root", False)
        assert s.server.objects[f"{QUEUES}/root"]["spec"] == {"weight": 7}
        assert len(s.server.sent("POST")) == 1


async def test_two_that_make_the_same_queue_both_succeed() -> None:
    async with Stage() as s:
        await asyncio.gather(*(ensure_queue(s.client, "default", True) for _ in range(2)))
        assert f"{QUEUES}/default" in s.server.objects


async def test_a_webhook_that_is_not_up_yet_is_waited_for() -> None:
    async with Stage() as s:
        s.server.fail("POST", "/queues", 500, times=3)
        await ensure_queue(s.client, "default", True, pause_s=0.01)
        assert f"{QUEUES}/default" in s.server.objects


async def test_after_the_last_attempt_the_cause_is_raised() -> None:
    async with Stage() as s:
        s.server.fail("POST", "/queues", 500, times=99, message="webhook says no")
        with pytest.raises(ApiError, match="webhook says no"):
            await ensure_queue(s.client, "default", True, attempts=3, pause_s=0.01)
        assert len(s.server.sent("POST")) == 3


def reviewing(server: FakeServer, denied: set[tuple[str, str]]) -> None:
    inner = server._post

    def post(seen: Seen) -> Any:
        if "selfsubjectaccessreviews" not in seen.path:
            return inner(seen)
        asked = seen.body["spec"]["resourceAttributes"]
        name = asked["resource"] + (f"/{asked['subresource']}" if asked["subresource"] else "")
        return answer({"status": {"allowed": (asked["verb"], name) not in denied}}, 201)

    server._post = post  # type: ignore[method-assign]


async def test_missing_rights_are_named_and_a_missing_patch_alone_is_none() -> None:
    async with Stage() as s:
        reviewing(
            s.server,
            {
                ("patch", "podgroups"),
                ("patch", "queues/status"),
                ("update", "queues/status"),
                ("watch", "nodes"),
            },
        )
        assert await probe.missing_rights(s.client, [Node, PodGroup]) == [
            "watch nodes",
            "patch or update queues/status (scheduling.volcano.sh)",
        ]


async def test_a_server_that_does_not_tell_rights_is_no_obstacle() -> None:
    async with Stage() as s:
        s.server.fail("POST", "reviews", 404, times=99)
        assert await probe.missing_rights(s.client, [Node]) == []
        assert await probe.server_version(s.client) == "v1.36.1"


async def test_a_bucket_lets_a_burst_through_and_then_its_rate() -> None:
    bucket = Bucket(qps=100.0, burst=5)
    loop = asyncio.get_running_loop()
    began = loop.time()
    await asyncio.gather(*(bucket.take() for _ in range(15)))
    assert loop.time() - began >= 0.09


async def test_a_request_that_still_connects_when_the_fence_goes_up_does_not_leave() -> None:
    async with Stage() as s:
        request = asyncio.create_task(s.client.get("/version"))
        await asyncio.sleep(0)  # the request has passed the first look at the fence, and has no connection yet
        s.gate.shut("the lease is lost")
        with pytest.raises(FencedError):
            await request
        assert not s.server.requests


def test_the_window_grows_while_answers_are_quick_and_halves_on_overload(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallelism, "time", SimpleNamespace(monotonic=lambda: 60.0))
    window = Parallelism(start=8, least=4, most=10)
    for _ in range(8 + 9 + 10 + 11):
        window.answered(0.01, busy=True)
    assert window.now == 10
    window.overloaded()
    window.overloaded()  # signs that arrive together are one sign
    assert window.now == 5


def test_the_window_stays_when_it_was_not_full_and_shrinks_when_answers_are_slow() -> None:
    window = Parallelism(start=8, least=4, most=10)
    for _ in range(100):
        window.answered(0.01, busy=False)
    assert window.now == 8
    window.answered(3.0, busy=True)
    assert window.now == 6
