"""The writer: takes what the session thread sends and brings it to the API server, come what may.

A bounded pool works through the lanes (binds, evictions, statuses), then through the events. Every write
has a deadline and ends in exactly one `Wrote` per number. What fails is tried again by its cause: 429 after
the time the server asks for, conflicts on the fresh object, lost answers after looking at what happened;
what cannot succeed ends at once. A pause takes no place in the pool. After a failed bind the binds of the
same gang that have not left yet are held back, since they would start a gang that is not whole
(design-notes §7 row 3).

All methods but `wake` belong to the I/O loop.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any

from vcsched.kube.apply import Applier, Outcome
from vcsched.kube.backoff import delay_s
from vcsched.kube.errors import ApiError, FencedError
from vcsched.kube.events import Recorder
from vcsched.kube.gate import Gate
from vcsched.kube.lanes import Job, Lanes
from vcsched.kube.link import Bind, Event, Link, Wrote
from vcsched.kube.parallelism import Parallelism
from vcsched.kube.settings import Patience
from vcsched.kube.turns import Turns

log = logging.getLogger(__name__)

_OVERTAKEN = "overtaken by a bind or eviction of the same pod"


class Writer:
    """Drains a link's outbound side."""

    def __init__(
        self,
        link: Link,
        applier: Applier,
        recorder: Recorder,
        gate: Gate,
        *,
        parallelism: Parallelism | None = None,
        patience: Patience | None = None,
    ) -> None:
        self.parallelism = parallelism or Parallelism()
        self._link = link
        self._applier = applier
        self._recorder = recorder
        self._gate = gate
        self._patience = patience or Patience()
        self._lanes = Lanes()
        self._tasks: set[asyncio.Task[None]] = set()
        self._event_tasks = 0
        self._paused: dict[int, tuple[asyncio.TimerHandle, Job]] = {}
        self._written = asyncio.Event()  # no write waits or is under way
        self._written.set()
        self._quiet = asyncio.Event()  # nor any event
        self._quiet.set()
        self._loop = asyncio.get_running_loop()
        self._woken = False
        self.turns = Turns()
        recorder.on_ready = self._start

    @property
    def unfinished(self) -> int:
        """Writes that were taken from the link and have not ended; events not counted."""
        return self._lanes.unfinished

    def wake(self) -> None:
        """There is something on the link. May be called from any thread."""
        if not self._woken:
            self._woken = True
            self._loop.call_soon_threadsafe(self.take)

    def take(self) -> None:
        """Take everything from the link and start as many writes as may be under way."""
        self._woken = False
        self._collect()
        if self._gate.is_shut:
            self.give_up("fenced: the lease is lost")
        self._start()

    def give_up(self, why: str) -> None:
        """End every write that is not under way; none of them leaves any more."""
        for handle, job in self._paused.values():
            handle.cancel()
            self._report(job, Outcome(False, 0, why))
            self._lanes.done(job)
        self._paused.clear()
        for job in self._lanes.clear():
            self._report(job, Outcome(False, 0, why))
        self._recorder.clear()
        self._mark_quiet()

    async def drain(self, timeout_s: float) -> bool:
        """Finish what there is; False if writes had to be given up after that time."""
        self.take()
        end = time.monotonic() + timeout_s
        done = await _is_set_within(self._written, timeout_s)
        if done:
            await _is_set_within(self._quiet, min(self._patience.events_s, end - time.monotonic()))
        self.give_up("not written before the end of the daemon")
        return done

    async def stop(self) -> None:
        """End the pool; answers of requests under way are not waited for."""
        self.give_up("the daemon ended")
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ---------------------------------------------------------------- the pool

    def _start(self) -> None:
        while len(self._tasks) < self.parallelism.now:
            job = self._lanes.next()
            if job is not None:
                self._spawn(self._work(job))
                continue
            if self._event_tasks >= max(1, self.parallelism.now // 2) or not self._recorder.ready:
                break
            self._event_tasks += 1
            self._spawn(self._work_on_events())
        self._mark_quiet()

    def _collect(self) -> None:
        for message in self._link.take():
            if isinstance(message, Event):
                self._recorder.record(message)
                continue
            for overtaken in self._lanes.add(message):
                self._report(overtaken, Outcome(False, 0, _OVERTAKEN))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        self.turns.under_way(len(self._tasks))
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self.turns.under_way(len(self._tasks))
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a write failed in an unforeseen way", exc_info=error)
        self._start()

    async def _work(self, first: Job) -> None:
        job: Job | None = first
        while job is not None:
            await self._try(job)
            job = self._lanes.next() if len(self._tasks) <= self.parallelism.now else None
            if job is not None and len(self._tasks) < self.parallelism.now:
                self._start()  # the window grew

    async def _work_on_events(self) -> None:
        """Events last: step back as soon as anything else waits."""
        try:
            while not self._lanes.ready and await self._recorder.send_one():
                pass
        finally:
            self._event_tasks -= 1

    async def _try(self, job: Job) -> None:
        began = time.monotonic()
        job.began = job.began or began
        busy = len(self._tasks) >= self.parallelism.now
        try:
            outcome = await self._applier.apply(job)
        except FencedError as error:
            self._finish(job, Outcome(False, 0, f"fenced: {error}"))
        except ApiError as error:
            if error.status in (429, 504) or error.reason == "Timeout":
                self.parallelism.overloaded()
            await self._failed(job, error)
        except Exception as error:
            log.exception("a write of %s failed in an unforeseen way", job.key)
            self._finish(job, Outcome(False, 0, f"internal error: {error}"))
        else:
            self.parallelism.answered(time.monotonic() - began, busy)
            self._finish(job, outcome)

    async def _failed(self, job: Job, error: ApiError) -> None:
        """Pause and try again, leave it to a newer write, or end it."""
        if not error.worth_a_retry:
            self._finish(job, Outcome(False, error.status, str(error)))
            return
        rival = self._lanes.rival(job)
        if rival is not None:
            if rival.lane == job.lane:
                self._lanes.absorb(job, rival)
                self._lanes.done(job)
            else:
                self._finish(job, Outcome(False, 0, _OVERTAKEN))
            return
        pause_s = delay_s(job.tries, self._patience.pause_s, self._patience.pause_most_s)
        pause_s = max(error.retry_after_s, pause_s)
        if time.monotonic() + pause_s > job.began + self._patience.deadline_s:
            self._finish(job, await self._last_word(job, error))
            return
        job.tries += 1
        job.stale = job.stale or error.status == 409
        handle = self._loop.call_later(pause_s, self._resume, job)
        self._paused[id(job)] = (handle, job)

    async def _last_word(self, job: Job, error: ApiError) -> Outcome:
        """The time is over; a bind that may have happened is looked at once more."""
        if isinstance(job.message, Bind) and job.unsure:
            try:
                outcome = await self._applier.whether_bound(job.message)
            except (ApiError, FencedError):
                return Outcome(False, 0, f"outcome unknown: {error}")
            if outcome is not None:
                return outcome
        return Outcome(False, error.status, f"given up after {job.tries + 1} tries: {error}")

    def _resume(self, job: Job) -> None:
        del self._paused[id(job)]
        self._lanes.again(job)
        self._start()

    # ---------------------------------------------------------------- results

    def _finish(self, job: Job, outcome: Outcome) -> None:
        message = job.message
        if isinstance(message, Bind) and message.gang and not outcome.ok:
            self._collect()  # what is still on the link was decided before the failure was known
            text = f"held: the bind of {message.namespace}/{message.name} failed"
            for held in self._lanes.hold(message.gang):
                self._report(held, Outcome(False, 0, text))
        self._lanes.done(job)
        self._report(job, outcome)

    def _report(self, job: Job, outcome: Outcome) -> None:
        spent_s, ended = (time.monotonic() - job.began, time.time()) if job.began else (0.0, 0.0)
        for number in job.numbers:
            self._link.put(Wrote(number, outcome.ok, outcome.status, outcome.reason, outcome.obj, spent_s, ended))

    def _mark_quiet(self) -> None:
        if self._lanes.unfinished:
            self._written.clear()
        else:
            self._written.set()
        if self._lanes.unfinished or self._event_tasks or self._recorder.ready:
            self._quiet.clear()
        else:
            self._quiet.set()


async def _is_set_within(event: asyncio.Event, timeout_s: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), timeout_s)
    except TimeoutError:
        return False
    return True
