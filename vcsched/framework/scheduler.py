"""The scheduler: a loaded configuration and the sessions run under it.

Plugin objects and kept columns live as long as the configuration; `configure` swaps all of it at once
between two sessions (spec 02 §6.5, design-notes D10). In memory a whole pass is: `drain`, `run_once`.
"""

from __future__ import annotations

import logging
import random
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from vcsched.cache.evictions import DELETED
from vcsched.framework.metrics import Metrics
from vcsched.framework.pipeline import Pipeline
from vcsched.framework.plugin import Plugin
from vcsched.framework.points import Opening
from vcsched.framework.registry import Registry
from vcsched.framework.sampling import Sampling, SamplingFlags
from vcsched.framework.session import Session
from vcsched.framework.update import Reminders

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.framework.compat import Compatibility
    from vcsched.framework.conf import Configuration

log = logging.getLogger(__name__)


DEFAULT_SAMPLING = SamplingFlags()


class Report(NamedTuple):
    """What one session did."""

    seconds: float
    bound: int
    evicted: int


class Scheduler:
    """Runs sessions on a cache. `seed` makes ties, and so decisions, repeatable."""

    def __init__(
        self,
        cache: SchedulerCache,
        configuration: Configuration,
        *,
        registry: Registry | None = None,
        metrics: Metrics | None = None,
        seed: int | None = None,
        sampling: SamplingFlags = DEFAULT_SAMPLING,
    ) -> None:
        self.cache = cache
        self.registry = registry or Registry()
        self.metrics = metrics or Metrics()
        self.rng = random.Random(seed)
        self.sampling = sampling
        self.reminders = Reminders()
        self.wake: float | None = None
        self.configure(configuration)

    def configure(self, configuration: Configuration) -> None:
        """Put a configuration into force. A plugin that cannot be built is left out, with a message."""
        plugins: list[tuple[Opening, Plugin]] = []
        for number, tier in enumerate(configuration.tiers):
            for entry in tier.plugins:
                try:
                    plugin = self.registry.build_plugin(entry.name, entry.arguments)
                except KeyError:
                    log.error("Failed to get plugin %s.", entry.name)
                    continue
                except Exception:
                    log.exception("plugin %s could not be made; it is left out", entry.name)
                    continue
                plugins.append((Opening(entry.name, number, entry.is_enabled), plugin))
        self.configuration = configuration
        self.plugins = plugins
        self.actions: list[Any] = [self.registry.build_action(name) for name in configuration.actions]
        self.cache.set_bare_pods(configuration.compatibility.bare_pods == "schedule")
        self.cache.set_shape_keys(
            plugin.shape_key for _, plugin in plugins if type(plugin).shape_key is not Plugin.shape_key
        )
        sampling = Sampling(self.sampling, adaptive=configuration.compatibility.node_sampling)
        self.pipeline = Pipeline(self.cache.picture, self.cache.shapes, self.rng, sampling)
        picture = self.cache.picture
        picture.changes += 1
        picture.touched.update(picture.attached)

    @property
    def compat(self) -> Compatibility:
        """The switches in force."""
        return self.configuration.compatibility

    def open_session(self) -> Session:
        """A session with its plugins opened."""
        ssn = Session(
            self.cache,
            self.configuration,
            self.plugins,
            self.pipeline,
            self.metrics,
            self.rng,
            self.reminders,
        )
        ssn.open()
        return ssn

    def run_once(self) -> Report:
        """One session: actions in order, then close. A fault in an action ends that action, not the daemon."""
        start = time.perf_counter()
        cache = self.cache
        bound, evicted = cache.binder.sent, cache.evictor.sent
        if self.wake is not None and self.wake <= cache.clock():
            cache.picture.changes += 1
            self.wake = None
        ssn = self.open_session()
        try:
            for action in self.actions:
                began = time.perf_counter()
                try:
                    action.execute(ssn)
                except (Exception, SystemExit):
                    log.exception("action %s failed; what it left undone is taken back", action.name)
                self.metrics.observe_action(action.name, time.perf_counter() - began)
        finally:
            ssn.close()
        # jobs that wait for the clock are not asked again before, so an earlier session's wish stands
        self.wake = min((at for at in (self.wake, ssn.wake) if at is not None), default=None)
        for entry in cache.evictor.ledger.take_ended():
            self.metrics.queues.evicted(entry.queue, entry.to_queue, entry.action, entry.outcome == DELETED)
        seconds = time.perf_counter() - start
        self.metrics.observe_cycle(seconds)
        return Report(seconds, cache.binder.sent - bound, cache.evictor.sent - evicted)
