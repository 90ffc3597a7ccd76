"""Questions about the picture, asked from other threads and answered by the session thread between sessions.

A question comes as `link.Question`; its answer is a plain value, or the text of an error in `Failed`. `ask` is
the asking side for coroutines.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vcsched.kube.link import Question

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.framework.scheduler import Scheduler
    from vcsched.kube.link import Link

log = logging.getLogger(__name__)

Answer = Callable[["SchedulerCache", "Scheduler", Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Failed:
    """A question could not be answered, and why."""

    reason: str


class Questions:
    """What may be asked, by name."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self._answers = {"wake": _nothing, **answers}

    def answer_all(self, cache: SchedulerCache, scheduler: Scheduler) -> None:
        """Answer what was asked since the last time; an answer that fails harms nobody else."""
        asked, cache.questions = cache.questions, []
        for question in asked:
            try:
                reply = self._answers[question.name](cache, scheduler, question.args)
            except Exception as error:
                log.exception("question %s could not be answered", question.name)
                reply = Failed(f"{type(error).__name__}: {error}")
            with contextlib.suppress(RuntimeError):  # the loop of the asking side is closed
                question.reply(reply)


async def ask(link: Link, name: str, args: Mapping[str, Any], timeout_s: float) -> Any:
    """The answer, which may be `Failed`. TimeoutError if the session thread does not come to it in time."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any) -> None:
        if not future.done():
            future.set_result(value)

    link.put(Question(name, dict(args), lambda value: _hand_over(loop, settle, value)))
    return await asyncio.wait_for(future, timeout_s)


def _hand_over(loop: asyncio.AbstractEventLoop, settle: Callable[[Any], None], value: Any) -> None:
    loop.call_soon_threadsafe(settle, value)


def _nothing(_: SchedulerCache, __: Scheduler, ___: Mapping[str, Any]) -> None:
    """To wake the session thread is all that was wanted."""
