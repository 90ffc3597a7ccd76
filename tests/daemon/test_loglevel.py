"""The socket that changes the verbosity of the log for a while (spec 02 §5)."""

from __future__ import annotations

import asyncio
import logging
import socket
import stat
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import aiohttp
import pytest

from vcsched.daemon.klog import Verbosity, level_of
from vcsched.daemon.loglevel import SOCKET, LogLevelSocket

Get = Callable[[str], Awaitable[tuple[int, str]]]


@pytest.fixture(autouse=True)
def _root() -> Iterator[None]:
    level = logging.getLogger().level
    yield
    logging.getLogger().setLevel(level)


def session(directory: Path, talk: Callable[[Get], Awaitable[None]], start: int = 2) -> None:
    """Start the socket, talk to it, stop it."""

    async def run() -> None:
        server = LogLevelSocket(Verbosity(start), str(directory))
        await server.start()
        try:
            async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(directory / SOCKET))) as client:

                async def get(path: str) -> tuple[int, str]:
                    async with client.get(f"http://localhost{path}") as reply:
                        return reply.status, await reply.text()

                await talk(get)
        finally:
            await server.stop()

    asyncio.run(run())


def test_the_level_can_be_set_for_a_while_and_read(tmp_path: Path) -> None:
    async def talk(get: Get) -> None:
        assert await get("/getlevel") == (200, "Current klog log level: 2\n")
        answer = await get("/setlevel?level=5&duration=1m30s")
        assert answer == (200, "Change klog log level to 5 successfully and  for 1m30s\n")
        assert await get("/getlevel") == (200, "Current klog log level: 5\n")
        assert logging.getLogger().level == level_of(5)

    session(tmp_path / "socks", talk)
    assert logging.getLogger().level == level_of(2)


def test_the_level_goes_back_when_the_time_is_over(tmp_path: Path) -> None:
    async def talk(get: Get) -> None:
        await get("/setlevel?level=5&duration=1h")
        await get("/setlevel?level=4&duration=1ms")
        while (await get("/getlevel"))[1] != "Current klog log level: 2\n":
            await asyncio.sleep(0.001)

    session(tmp_path, talk)


@pytest.mark.parametrize(
    "query",
    [
        "",
        "level=5",
        "duration=5s",
        "level=x&duration=5s",
        "level=0&duration=5s",
        "level=-1&duration=5s",
        "level=5&duration=5",
        "level=5&duration=0",
        "level=5&duration=999us",
    ],
)
def test_a_bad_request_is_told_how_to_ask_and_changes_nothing(tmp_path: Path, query: str) -> None:
    async def talk(get: Get) -> None:
        status, text = await get(f"/setlevel?{query}")
        assert status == 400
        assert text.startswith("usage: /setlevel?level=N&duration=D")
        assert await get("/getlevel") == (200, "Current klog log level: 2\n")

    session(tmp_path, talk)


def test_only_the_own_user_may_use_the_socket_and_an_old_one_is_replaced(tmp_path: Path) -> None:
    directory = tmp_path / "socks"

    async def talk(get: Get) -> None:
        assert stat.S_IMODE((directory / SOCKET).stat().st_mode) == 0o700
        assert stat.S_IMODE(directory.stat().st_mode) == 0o750
        assert (await get("/getlevel"))[0] == 200

    session(directory, talk)

    (directory / SOCKET).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(directory / SOCKET))
    session(directory, talk)


def test_a_directory_that_cannot_be_used_is_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")

    async def run() -> None:
        server = LogLevelSocket(Verbosity(0), str(tmp_path / "file"))
        await server.start()
        await server.stop()

    asyncio.run(run())
    assert len(caplog.records) == 1
    assert "the log level cannot be changed at run time" in caplog.text


def test_the_directory_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEBUG_SOCKET_DIR", str(tmp_path / "elsewhere"))

    async def run() -> None:
        server = LogLevelSocket(Verbosity(0))
        await server.start()
        assert (tmp_path / "elsewhere" / SOCKET).is_socket()
        await server.stop()

    asyncio.run(run())
