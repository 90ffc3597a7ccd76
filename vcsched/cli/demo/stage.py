"""The processes of the demo: an embedded API server and the scheduler, each of its own, and a client.

The scheduler is started exactly as on a real cluster, with a kubeconfig; that its API server is an embedded
one makes no difference to it.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from vcsched.kube.client import Client
from vcsched.kube.objects import KINDS
from vcsched.simulator.fragments import Obj

AT_A_TIME = 32
_BY_KIND = {resource.kind: resource for resource in KINDS.values()}


class SchedulerProcess:
    """`vcsched run` as a process; its log goes to a file that is shown only if it ends by itself."""

    def __init__(self, kubeconfig: Path, log: Path, period: str) -> None:
        self._log = log
        command = [sys.executable, "-m", "vcsched", "run", f"--kubeconfig={kubeconfig}", f"--schedule-period={period}"]
        with log.open("wb") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)

    def ended(self) -> str:
        """ "" while it runs; else how it ended, with the end of its log."""
        code = self._process.poll()
        if code is None:
            return ""
        return f"the scheduler ended with status {code}:\n{self._log.read_text(errors='replace')[-2000:]}"

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        self._process.terminate()
        try:
            return self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


async def submit(client: Client, objects: Iterable[Obj]) -> None:
    """Create the objects, in order up to as many as are under way at once. Raises `ApiError`."""
    waiting = iter(objects)

    async def work() -> None:
        for obj in waiting:
            namespace = obj["metadata"].get("namespace", "")
            body = {key: value for key, value in obj.items() if key != "status"}
            await client.create(_BY_KIND[obj["kind"]].path(namespace), msgspec.json.encode(body))

    await asyncio.gather(*(work() for _ in range(AT_A_TIME)))
