"""Dumps of the cache on a signal: asked in the main thread, written by the session thread between sessions.

What a dump holds is `cache.dumper`'s business. Spec 02 §19.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vcsched.cache.dumper import dump_json, dump_log
from vcsched.daemon.questions import Answer, Failed
from vcsched.kube.link import Question

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.framework.scheduler import Scheduler
    from vcsched.kube.link import Link

log = logging.getLogger(__name__)

_FILE, _LOG = "dump to a file", "dump to the log"


class Dumps:
    """`to_file` and `to_log` ask for a dump; `answers` are the session thread's side."""

    def __init__(self, link: Link, directory: str) -> None:
        self._link = link
        self._directory = Path(directory)
        self.answers: Mapping[str, Answer] = {_FILE: self._write, _LOG: self._log}

    def to_file(self) -> None:
        """SIGUSR1."""
        self._link.put(Question(_FILE, {}, _report))

    def to_log(self) -> None:
        """SIGUSR2."""
        self._link.put(Question(_LOG, {}, _report))

    def _write(self, cache: SchedulerCache, _: Scheduler, __: Mapping[str, Any]) -> str:
        return f"the cache is dumped to {dump_json(cache, self._directory)}"

    def _log(self, cache: SchedulerCache, _: Scheduler, __: Mapping[str, Any]) -> str:
        dump_log(cache)
        return "the cache is dumped to this log"


def _report(answer: Any) -> None:
    if isinstance(answer, Failed):
        log.error("the cache could not be dumped: %s", answer.reason)
    else:
        log.info("%s", answer)
