"""The daemon as a process: start order, HTTP servers, signals, exit code (spec 02 §1.5, §2, §4).

The main thread runs a small event loop for signals and HTTP; a second one decides (`scheduling`); a process
of its own speaks to the API server (`kube.ioprocess`). `main` is the whole life of the process.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from vcsched.daemon import explanation, signals
from vcsched.daemon.dumps import Dumps
from vcsched.daemon.endpoints import explain_routes, health_routes, metrics_routes
from vcsched.daemon.flags import doubts
from vcsched.daemon.http import Server, serve, server_tls
from vcsched.daemon.loglevel import LogLevelSocket
from vcsched.daemon.questions import Questions, ask
from vcsched.daemon.scheduling import FATAL, SchedulingThread
from vcsched.daemon.setup import gates_of
from vcsched.framework.registry import PluginLoadError
from vcsched.kube.errors import ApiError, LoginError

if TYPE_CHECKING:
    from vcsched.daemon.flags import Options
    from vcsched.daemon.klog import Verbosity

log = logging.getLogger(__name__)

SWITCH_INTERVAL_S = 0.0005
"""How long a thread may keep the interpreter: with Python's 5 ms a busy session starves probes and scrapes."""

ANSWER_S = 20.0
"""How long somebody who asks waits for the end of a session."""


class StartError(Exception):
    """The daemon cannot start; `code` is the exit code."""

    def __init__(self, text: str, code: int = 1) -> None:
        super().__init__(text)
        self.code = code


def main(options: Options, verbosity: Verbosity) -> int:
    """Run until told to end; the exit code."""
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    signals.ignore_dumps()
    for doubt in doubts(options):
        log.warning("%s", doubt)
    try:
        return asyncio.run(_run(options, verbosity))
    except StartError as error:
        log.critical("%s", error)
        return error.code


async def _run(options: Options, verbosity: Verbosity) -> int:
    try:
        scheduling = SchedulingThread(options)
    except (PluginLoadError, FileNotFoundError) as error:
        raise StartError(f"cannot start: {error}") from error
    try:
        gates = gates_of(options, scheduling.io.start())
    except (LoginError, ApiError, ValueError) as error:
        scheduling.io.stop()
        raise StartError(f"cannot start: {error}") from error
    loop = asyncio.get_running_loop()
    dumps = Dumps(scheduling.link, options.cache_dump_dir)

    def on_synced() -> None:
        if options.cache_dumper:
            loop.call_soon_threadsafe(signals.on_dump, loop, dumps.to_file, dumps.to_log)

    questions = Questions({"explain": explanation.podgroup, **dumps.answers})
    async with AsyncExitStack() as stack:
        await _serve_all(stack, options, verbosity, scheduling)
        signals.on_end(loop, scheduling.stop)
        return await asyncio.to_thread(scheduling.run, gates, questions, on_synced)


async def _serve_all(
    stack: AsyncExitStack, options: Options, verbosity: Verbosity, scheduling: SchedulingThread
) -> None:
    """Start what listens; it is closed again with the stack."""
    if options.enable_metrics or options.enable_pprof:
        routes = metrics_routes(
            scheduling.metrics.exposition if options.enable_metrics else None,
            sys.argv if options.enable_pprof else None,
        )
        try:
            stack.push_async_callback((await serve(routes, options.listen_address)).close)
        except (OSError, ValueError) as error:
            log.error("no metrics or profiles, --listen-address %s: %s", options.listen_address, error)
    if options.enable_healthz:
        server = await _serve_health(options, scheduling)
        stack.push_async_callback(server.close)
    verbosity.on_change = scheduling.io.set_log_level
    level = LogLevelSocket(verbosity)
    await level.start()
    stack.push_async_callback(level.stop)


async def _serve_health(options: Options, scheduling: SchedulingThread) -> Server:
    tls = None
    if options.serves_tls:
        try:
            tls = server_tls(options.ca_cert_file, options.tls_cert_file, options.tls_private_key_file)
        except (OSError, ssl.SSLError) as error:
            raise StartError(f"the health server cannot speak TLS: {error}", FATAL) from error

    async def explain(query: Mapping[str, str]) -> Any:
        if not scheduling.runs_sessions:
            raise TimeoutError
        return await ask(scheduling.link, "explain", query, ANSWER_S)

    routes = {**health_routes(scheduling.lacking), **explain_routes(explain)}
    try:
        return await serve(routes, options.healthz_address, tls)
    except (OSError, ValueError) as error:
        raise StartError(f"--healthz-address {options.healthz_address}: {error}") from error
