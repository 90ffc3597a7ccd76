"""The I/O loop rests between turns only while many writes are under way, and shortly against their answers."""

from __future__ import annotations

import asyncio

import pytest

from vcsched.kube import turns
from vcsched.kube.turns import MANY, Turns


@pytest.mark.parametrize(("answer_s", "rest_s"), [(0.0, 0.0), (0.02, 0.005), (30.0, 0.05)])
def test_a_turn_is_short_against_an_answer(monkeypatch: pytest.MonkeyPatch, answer_s: float, rest_s: float) -> None:
    rests: list[float] = []

    async def gather() -> None:
        made = Turns()
        running = asyncio.create_task(made.run())
        made.under_way(MANY - 1)
        for _ in range(200):
            made.answered(answer_s)
        await asyncio.sleep(0.01)
        assert rests == []

        made.under_way(MANY)
        while len(rests) < 3:
            await asyncio.sleep(0)
        made.under_way(MANY - 1)
        await asyncio.sleep(0.01)
        counted = len(rests)
        await asyncio.sleep(0.01)
        assert len(rests) == counted
        running.cancel()

    with monkeypatch.context() as patched:
        patched.setattr(turns, "time", _Time(rests))
        asyncio.run(gather())
    assert rests[0] == pytest.approx(rest_s, rel=0.01, abs=1e-6)


def test_the_loop_rests_though_the_server_has_never_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    rests: list[float] = []

    async def wait() -> None:
        made = Turns()
        made.under_way(MANY)
        running = asyncio.create_task(made.run())
        while not rests:
            await asyncio.sleep(0)
        running.cancel()

    with monkeypatch.context() as patched:
        patched.setattr(turns, "time", _Time(rests))
        asyncio.run(wait())
    assert rests[0] > 0.001


class _Time:
    def __init__(self, rests: list[float]) -> None:
        self.sleep = rests.append
