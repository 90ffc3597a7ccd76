"""The socket through which the verbosity of the log is raised for a while (spec 02 §5).

curl --unix-socket /tmp/klog-socks/klog-klog.sock "http://localhost/setlevel?level=5&duration=60s"
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from pathlib import Path

from vcsched.daemon.http import Reply, Server, serve_unix
from vcsched.daemon.klog import Verbosity
from vcsched.framework.duration import format_duration, parse_duration

log = logging.getLogger(__name__)

SOCKET = "klog-klog.sock"
_USAGE = "usage: /setlevel?level=N&duration=D with a whole number N > 0 and D like 60s, at least 1ms\n"


class LogLevelSocket:
    """Listens in `directory`, by default where DEBUG_SOCKET_DIR says."""

    def __init__(self, verbosity: Verbosity, directory: str = "") -> None:
        self._verbosity = verbosity
        self._directory = Path(directory or os.environ.get("DEBUG_SOCKET_DIR") or "/tmp/klog-socks")
        self._server: Server | None = None
        self._back: asyncio.TimerHandle | None = None

    async def start(self) -> None:
        """Listen. The daemon runs as well without, so a failure is one line in the log."""
        try:
            self._directory.mkdir(mode=0o750, parents=True, exist_ok=True)
            routes = {"/setlevel": self._set_level, "/getlevel": self._get_level}
            self._server = await serve_unix(routes, self._directory / SOCKET)
        except OSError as error:
            log.warning("the log level cannot be changed at run time, %s: %s", self._directory / SOCKET, error)

    async def stop(self) -> None:
        """Stop listening; the level goes back to the one of the start."""
        self._cancel()
        self._verbosity.set(self._verbosity.start)
        if self._server is not None:
            await self._server.close()

    async def _set_level(self, query: Mapping[str, str]) -> Reply:
        try:
            level, duration_s = int(query.get("level", "")), parse_duration(query.get("duration", ""))
        except ValueError:
            return Reply(_USAGE, 400)
        if level <= 0 or duration_s < 0.001:
            return Reply(_USAGE, 400)
        self._cancel()
        self._verbosity.set(level)
        self._back = asyncio.get_running_loop().call_later(duration_s, self._verbosity.set, self._verbosity.start)
        lasts = format_duration(duration_s)
        return Reply(f"Change klog log level to {level} successfully and  for {lasts}\n")

    async def _get_level(self, _: Mapping[str, str]) -> Reply:
        return Reply(f"Current klog log level: {self._verbosity.current}\n")

    def _cancel(self) -> None:
        if self._back is not None:
            self._back.cancel()
            self._back = None
