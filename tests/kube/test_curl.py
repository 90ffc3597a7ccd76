"""Single requests: answered, cancelled, timed out, ended — and libcurl is left alone when none is under way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from tests.kube.fake import FakeServer
from vcsched.kube.config import Login
from vcsched.kube.curl import FIRST_S, LONGEST_S, Answer, Curl
from vcsched.kube.errors import ApiError, FencedError
from vcsched.kube.gate import Gate

PODS = "/api/v1/pods"


async def ask(curl: Curl, server: FakeServer, timeout_s: float = 60.0) -> Answer:
    return await curl.send("GET", server.url + PODS, None, ["Accept: application/json"], timeout_s)


async def until(true: Callable[[], object]) -> None:
    while not true():
        await asyncio.sleep(0.001)


def counted(curl: Curl, name: str) -> list[None]:
    """Grows by one with each call of this method."""
    calls: list[None] = []
    method = getattr(curl, name)

    def call() -> None:
        calls.append(None)
        method()

    setattr(curl, name, call)
    return calls


async def with_held_requests(
    count: int, then: Callable[[Curl, FakeServer, list[asyncio.Task[Answer]]], Awaitable[None]]
) -> None:
    """So many requests are under way, and answered when the server is let go."""
    async with FakeServer() as server:
        server.held = asyncio.Event()
        curl = Curl(Login(server.url), Gate())
        asked = [asyncio.create_task(ask(curl, server)) for _ in range(count)]
        await until(lambda: server.in_flight == count)
        await then(curl, server, asked)
        server.held.set()
        curl.close()
        await asyncio.gather(*asked, return_exceptions=True)


async def test_when_all_are_answered_libcurl_is_left_alone() -> None:
    async def then(curl: Curl, server: FakeServer, asked: list[asyncio.Task[Answer]]) -> None:
        steps = counted(curl, "_step")
        await until(lambda: len(steps) > 3)  # it is looked after as long as they wait
        assert server.held is not None
        server.held.set()
        assert {answer.status for answer in await asyncio.gather(*asked)} == {200}
        await asyncio.sleep(3 * LONGEST_S)
        until_now = len(steps)
        await asyncio.sleep(10 * LONGEST_S)
        assert len(steps) == until_now

    await with_held_requests(20, then)


async def test_a_long_answer_is_read_without_waiting_for_the_next_tick_while_more_of_it_is_there() -> None:
    async with FakeServer() as server:
        server.put(f"{PODS}/long", {"text": "x" * (16 << 20)})
        curl = Curl(Login(server.url), Gate())
        ticks, steps = counted(curl, "_tick"), counted(curl, "_step")
        assert len((await ask(curl, server)).body) > 16 << 20
        assert len(steps) > len(ticks) + 10
        curl.close()


async def test_after_a_step_that_fails_libcurl_is_given_the_next_one(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def then(curl: Curl, server: FakeServer, asked: list[asyncio.Task[Answer]]) -> None:
        collect = curl._collect

        def fail() -> None:
            monkeypatch.setattr(curl, "_collect", collect)
            raise MemoryError

        monkeypatch.setattr(curl, "_collect", fail)
        await until(lambda: "MemoryError" in caplog.text)
        assert server.held is not None
        server.held.set()
        assert {answer.status for answer in await asyncio.gather(*asked)} == {200}

    await with_held_requests(2, then)


async def test_the_longer_an_answer_takes_the_longer_are_the_pauses_until_something_happens() -> None:
    async def then(curl: Curl, server: FakeServer, asked: list[asyncio.Task[Answer]]) -> None:
        await until(lambda: curl._pause_s == LONGEST_S)
        late = asyncio.create_task(ask(curl, server))
        await until(lambda: server.in_flight == 2)
        await until(lambda: FIRST_S < curl._pause_s < LONGEST_S)
        assert server.held is not None
        server.held.set()
        assert {answer.status for answer in await asyncio.gather(*asked, late)} == {200}

    await with_held_requests(1, then)


async def test_a_request_after_a_rest_is_answered_again() -> None:
    async with FakeServer() as server:
        curl = Curl(Login(server.url), Gate())
        for _ in range(3):
            assert (await ask(curl, server)).status == 200
            await asyncio.sleep(3 * LONGEST_S)
        curl.close()


async def test_who_gives_up_waiting_leaves_the_others_their_answers() -> None:
    async def then(curl: Curl, server: FakeServer, asked: list[asyncio.Task[Answer]]) -> None:
        asked[0].cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked[0]
        late = asyncio.create_task(ask(curl, server))  # takes the handle that became free
        assert server.held is not None
        server.held.set()
        assert {answer.status for answer in await asyncio.gather(*asked[1:], late)} == {200}

    await with_held_requests(3, then)


async def test_an_answer_that_does_not_come_is_waited_for_until_its_time_is_over() -> None:
    async def then(curl: Curl, server: FakeServer, asked: list[asyncio.Task[Answer]]) -> None:
        with pytest.raises(ApiError) as caught:
            await ask(curl, server, timeout_s=0.05)
        assert (caught.value.status, caught.value.reason, caught.value.sent) == (0, "Timeout", True)

    await with_held_requests(1, then)


async def test_closing_ends_what_is_under_way() -> None:
    async def then(curl: Curl, server: FakeServer, asked: list[asyncio.Task[Answer]]) -> None:
        curl.close()
        ended = await asyncio.gather(*asked, return_exceptions=True)
        assert [(type(end), getattr(end, "sent", None)) for end in ended] == [(ApiError, True)] * 4

    await with_held_requests(4, then)


async def test_behind_a_shut_gate_nothing_leaves() -> None:
    async with FakeServer() as server:
        gate = Gate()
        curl = Curl(Login(server.url), gate)
        gate.shut("fenced")
        with pytest.raises(FencedError):
            await ask(curl, server)
        assert server.requests == []
        curl.close()
