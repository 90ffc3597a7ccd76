"""The session thread's work: take in what arrived, answer questions, decide, write, rest; for ever.

One session starts `--schedule-period` after the end of the last (spec 02 §7). In the pause the thread takes in
what arrives and answers questions, so that neither waits for a long period. What goes wrong in a session is
logged and the next one begins as usual: the daemon does not end because of one object.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from vcsched.daemon.gcpolicy import GcPolicy
from vcsched.daemon.questions import Questions
from vcsched.kube.link import Question

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.daemon.inforce import InForce
    from vcsched.framework.scheduler import Scheduler

log = logging.getLogger(__name__)
_V3 = logging.INFO - 3

_GATHER_S = 0.02  # in the pause, what arrives within so long is taken in together


class Loop:
    """Runs sessions until `stop`. `last_end` is the monotonic time at which the last session ended."""

    def __init__(
        self, cache: SchedulerCache, scheduler: Scheduler, in_force: InForce, questions: Questions, period_s: float
    ) -> None:
        self._cache = cache
        self._scheduler = scheduler
        self._in_force = in_force
        self._questions = questions
        self._period_s = period_s
        self._stopped = threading.Event()
        self._gc = GcPolicy()
        self._kinds_refused: set[str] = set()
        self.last_end = 0.0

    def stop(self) -> None:
        """End after the session that runs. Any thread."""
        self._stopped.set()
        self._cache.link.put(Question("wake", {}, lambda _: None))  # ends the pause

    def run(self) -> None:
        """The loop; returns once stopped, with everything decided handed to the I/O side."""
        self._gc.start()
        self._gc.synced()
        try:
            while not self._stopped.is_set():
                self.once()
                self._gc.between_sessions()
                self._rest()
        finally:
            self._gc.stop()

    def once(self) -> None:
        """One turn: reload, drain, questions, session, metrics."""
        cache, scheduler = self._cache, self._scheduler
        try:
            if self._in_force.refresh():
                scheduler.configure(self._in_force.configuration)
            self._take_in()
            self._announce()
            report = scheduler.run_once()
            cache.flush()
            self._publish()
            if report.bound or report.evicted:
                log.log(
                    _V3,
                    "session of %.1f ms: %d pods bound, %d evicted",
                    report.seconds * 1000.0,
                    report.bound,
                    report.evicted,
                )
        except Exception:
            log.exception("a session failed; the next one starts as usual")
        self.last_end = time.monotonic()

    def _take_in(self) -> None:
        self._cache.drain()
        self._questions.answer_all(self._cache, self._scheduler)

    def _rest(self) -> None:
        """Sleep a period, taking in what arrives meanwhile."""
        until = time.monotonic() + self._period_s
        while not self._stopped.is_set():
            left_s = until - time.monotonic()
            if left_s <= 0:
                return
            if not self._cache.link.wait(left_s):
                return
            self._stopped.wait(min(_GATHER_S, left_s))
            try:
                self._take_in()
            except Exception:
                log.exception("what arrived could not be taken in; the next session starts as usual")

    def _announce(self) -> None:
        """Say since when the jobs that came or changed exist."""
        seen = self._scheduler.metrics.jobs.seen
        for job in self._cache.picture.touched.values():
            if job.obj is not None:
                seen(job.namespace, job.name, job.queue_name, job.created)

    def _publish(self) -> None:
        """Binds that ended, series of jobs and queues that went, and how many objects are refused."""
        cache, metrics = self._cache, self._scheduler.metrics
        for took_s, age_s in cache.binder.times:
            metrics.observe_stage("Bind", took_s)
            metrics.observe_task("Bound", max(0.0, age_s))
        cache.binder.times.clear()
        for job in cache.gone_jobs:
            metrics.jobs.gone(job.namespace, job.name)
        for queue in cache.gone_queues:
            metrics.queues.gone(queue)
        cache.gone_jobs.clear()
        cache.gone_queues.clear()
        counts = dict.fromkeys(self._kinds_refused, 0)
        for kind, _ in cache.refused:
            counts[kind] = counts.get(kind, 0) + 1
        for kind, count in counts.items():
            metrics.set_refused_objects(kind, count)
        self._kinds_refused.update(counts)
