"""The scheduling side of the process: everything from the default queues to the last write, in one thread.

    queues → wait for the lease → load the configuration → follow → first lists → sessions → hand over

`SchedulingThread.run` is that way from top to bottom (spec 02 §2 and §3); `app` starts it beside the HTTP
servers. Losing the lease raises the fence first, so whatever is still under way here cannot be written.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vcsched.cache.cache import SchedulerCache
from vcsched.daemon.firstlists import wait_for_first_lists
from vcsched.daemon.inforce import InForce
from vcsched.daemon.loop import Loop
from vcsched.daemon.questions import Questions
from vcsched.daemon.setup import cache_options_of, io_settings_of, kinds_of, sampling_of
from vcsched.framework.findings import ConfigurationError
from vcsched.framework.metrics import Metrics
from vcsched.framework.registry import Registry
from vcsched.framework.scheduler import Scheduler
from vcsched.kube.errors import ApiError
from vcsched.kube.ioprocess import IOProcess
from vcsched.kube.link import Link

if TYPE_CHECKING:
    from vcsched.daemon.featuregates import FeatureGates
    from vcsched.daemon.flags import Options

log = logging.getLogger(__name__)

DRAIN_S = 20.0
"""How long the end waits for writes; Kubernetes kills a pod 30 s after asking it to end."""

IO_PROCESS = "vcsched.daemon.ioserver"
"""The module that is the I/O process: its log and its garbage collection are the daemon's."""

STALE_SESSIONS_S = 60.0
"""A leader whose last session ended longer ago than this, and its period, is not ready."""

LOST_GRACE_S = 10.0
"""After the loss of the lease a session that does not end is not waited for longer."""

NICENESS = 5
"""Of the thread that decides, on top of the daemon's own. Where cores are few, what was decided leaves first: a session
can wait, a bind not."""

FATAL = 255


class SchedulingThread:
    """The parts that decide, and how far they have got.

    Made before anything is started; PluginLoadError or FileNotFoundError if the files named by the options
    cannot be used.
    """

    def __init__(self, options: Options) -> None:
        self.metrics = Metrics()
        self._options = options
        self._stopped = threading.Event()
        self._loop: Loop | None = None
        self._led = False
        self.lost = ""
        self._registry = Registry(options.plugins_dir)
        self._in_force = InForce(
            self._registry,
            options.scheduler_conf,
            options.plugins_dir,
            self.metrics,
            strict=options.disable_default_scheduler_config,
        )
        self._in_force.watch()
        self.io = IOProcess(io_settings_of(options), self._lost_the_io_side, module=IO_PROCESS)
        self.link: Link = self.io.link
        self.cache = SchedulerCache(self.link, cache_options_of(options))

    # ------------------------------------------------------------------ any thread

    def stop(self) -> None:
        """End in an orderly way."""
        self._stopped.set()
        if self._loop is not None:
            self._loop.stop()

    @property
    def runs_sessions(self) -> bool:
        """Whether questions are answered."""
        return self._loop is not None

    def lacking(self) -> Sequence[str]:
        """What is missing for readiness. A standby lacks nothing: it is ready to take over.

        Were it not, a rolling update would wait for the new pod, which waits for the old one's lease. Without
        leader election nobody stands by.
        """
        if self.lost:
            return [self.lost]
        if not self._led:
            return [] if self._options.leader_elect else ["the first lists are not begun"]
        loop = self._loop
        if loop is None or not loop.last_end:
            lagging = [f"first list of {name}: {why}" for name, why in self.io.lagging().items()]
            return lagging or ["the first session has not ended"]
        age_s = time.monotonic() - loop.last_end
        if age_s > STALE_SESSIONS_S + self._options.schedule_period:
            return [f"the last session ended {age_s:.0f} s ago"]
        return []

    # ------------------------------------------------------------------ the thread

    def run(self, gates: FeatureGates, questions: Questions, on_synced: Callable[[], None]) -> int:
        """The whole way; returns the exit code. `on_synced` is called before the first session."""
        threading.current_thread().name = "session"
        try:
            return self._run(gates, questions, on_synced)
        except ApiError as error:
            if self.lost:
                return FATAL
            log.critical("cannot start: %s", error)
            return 1
        finally:
            self._in_force.stop()
            if not self.io.stop(DRAIN_S):
                log.warning("not all writes were finished before the end")

    def _run(self, gates: FeatureGates, questions: Questions, on_synced: Callable[[], None]) -> int:
        io, options = self.io, self._options
        try:
            self._in_force.start()  # before the step back, which its threads would share
        except OSError as error:
            log.critical("changes of the configuration could not be noticed: %s", error)
            return FATAL
        step_back()
        kinds = kinds_of(options, gates)
        for right in io.missing_rights(kinds):
            log.warning("our role lacks a right: %s", right)
        for queue, reclaimable in (("root", False), (options.default_queue, True)):
            if not io.ensure_queue(queue, reclaimable, self._stopped):
                return 0
        if not io.elect(self._stopped):
            return 0
        self._led = True
        try:
            self._in_force.load()
        except (ConfigurationError, OSError, UnicodeDecodeError) as error:
            log.critical("no good configuration: %s", error)
            return FATAL
        scheduler = Scheduler(
            self.cache,
            self._in_force.configuration,
            registry=self._registry,
            metrics=self.metrics,
            seed=options.seed,
            sampling=sampling_of(options),
        )
        loop = Loop(self.cache, scheduler, self._in_force, questions, options.schedule_period)
        io.follow(kinds)
        if wait_for_first_lists(self.cache, kinds, io.lagging, options.resource_sync_timeout, self._stopped):
            for job in self.cache.binder.find_torn():
                log.info("gang %s was left in pieces; it is completed before others start", job.key)
            self._loop = loop
            on_synced()
            if self._stopped.is_set():  # between the wait and the assignment
                loop.stop()
            loop.run()
        return FATAL if self.lost else 0

    # ------------------------------------------------------------------ a thread of the I/O side

    def _lost_the_io_side(self, why: str) -> None:
        """The lease is lost, or the I/O process has ended: nothing that is decided now would be written."""
        self.lost = why
        log.critical("%s", why)
        self.stop()
        end = threading.Timer(LOST_GRACE_S, os._exit, (FATAL,))
        end.daemon = True
        end.start()


def step_back() -> None:
    """Let all other threads of the daemon and its I/O process go before the calling thread, for good, if we may."""
    thread = threading.get_native_id()
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + NICENESS)
