"""What the daemon serves: metrics and profiles on one address, health and explanations on the other (spec 02 §4).

`/healthz` says that the process is alive and nothing else, also on a standby, since a failing answer makes
Kubernetes kill the pod. `/readyz` says what the scheduler still lacks: the lease, the first lists, a recent
session.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import FrameType
from typing import Any

import msgspec
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from vcsched.daemon.http import Reply, Route
from vcsched.daemon.questions import Failed

LONGEST_PROFILE_S = 60.0
SAMPLES_PER_S = 100

_PPROF = """\
/debug/pprof/profile?seconds=N  stacks of all threads, sampled for N seconds, as flame graphs read them
/debug/pprof/goroutine          the stack of every thread now
/debug/pprof/cmdline            the command line
symbol and trace exist for Go programs only
"""


def metrics_routes(exposition: Callable[[], bytes] | None, command: Sequence[str] | None = None) -> Mapping[str, Route]:
    """Routes of `--listen-address`: `/metrics` if there is an exposition, profiles if a command line."""
    routes: dict[str, Route] = {}
    if exposition is not None:

        async def metrics(_: Mapping[str, str]) -> Reply:
            return Reply(exposition(), content_type=CONTENT_TYPE_LATEST)

        routes["/metrics"] = metrics
    if command is not None:
        line = "\0".join(command)

        async def cmdline(_: Mapping[str, str]) -> Reply:
            return Reply(line)

        routes |= {
            "/debug/pprof/": _index,
            "/debug/pprof/cmdline": cmdline,
            "/debug/pprof/profile": _profile,
            "/debug/pprof/goroutine": _stacks,
            "/debug/pprof/symbol": _not_here,
            "/debug/pprof/trace": _not_here,
        }
    return routes


def health_routes(lacking: Callable[[], Sequence[str]]) -> Mapping[str, Route]:
    """Routes of `--healthz-address`; `lacking` names what is missing for readiness, nothing when ready."""

    async def healthz(query: Mapping[str, str]) -> Reply:
        return Reply("[+]ping ok\nhealthz check passed\n" if "verbose" in query else "ok")

    async def readyz(_: Mapping[str, str]) -> Reply:
        missing = lacking()
        if missing:
            return Reply("".join(f"not ready: {reason}\n" for reason in missing), 503)
        return Reply("ok")

    return {"/healthz": healthz, "/healthz/ping": healthz, "/readyz": readyz}


def explain_routes(ask: Callable[[Mapping[str, str]], Awaitable[Any]]) -> Mapping[str, Route]:
    """`/explain?kind=podgroup&key=NAMESPACE/NAME`: JSON. `ask` may raise TimeoutError, and gives None for unknown."""

    async def explain(query: Mapping[str, str]) -> Reply:
        if query.get("kind") != "podgroup" or query.get("key", "").count("/") != 1:
            return Reply("give kind=podgroup and key=NAMESPACE/NAME\n", 400)
        try:
            answer = await ask(query)
        except TimeoutError:
            return Reply("no answer in time: this replica does not lead, or is in a long session\n", 503)
        if answer is None:
            return Reply(f"there is no {query['kind']} {query['key']}\n", 404)
        if isinstance(answer, Failed):
            return Reply(f"{answer.reason}\n", 500)
        return Reply(msgspec.json.encode(answer), content_type="application/json")

    return {"/explain": explain}


async def _index(_: Mapping[str, str]) -> Reply:
    return Reply(_PPROF)


async def _not_here(_: Mapping[str, str]) -> Reply:
    return Reply("this program is written in Python; try /debug/pprof/\n", 404)


async def _stacks(_: Mapping[str, str]) -> Reply:
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return Reply(
        "\n".join(
            f"thread {names.get(ident, ident)}\n{''.join(traceback.format_stack(frame))}"
            for ident, frame in sys._current_frames().items()
        )
    )


async def _profile(query: Mapping[str, str]) -> Reply:
    try:
        seconds = float(query.get("seconds", "30"))
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= LONGEST_PROFILE_S:
        return Reply(f"seconds must be more than 0 and at most {LONGEST_PROFILE_S:g}\n", 400)
    folded = await asyncio.get_running_loop().run_in_executor(None, _sample, seconds)
    return Reply("".join(f"{stack} {count}\n" for stack, count in folded.most_common()))


def _sample(seconds: float) -> Counter[str]:
    """How often each stack was seen, outermost call first; once at least, however busy the machine is."""
    counts: Counter[str] = Counter()
    own = threading.get_ident()
    end = time.monotonic() + seconds
    while not counts or time.monotonic() < end:
        for ident, frame in sys._current_frames().items():
            if ident == own:
                continue
            calls = []
            at: FrameType | None = frame
            while at is not None:
                calls.append(at.f_code.co_qualname)
                at = at.f_back
            counts[";".join(reversed(calls))] += 1
        time.sleep(1 / SAMPLES_PER_S)
    return counts
