"""The configuration and the custom plugins in force, and their reload between sessions (spec 02 §6.4, §6.5).

The watches run in threads of their own and only leave a note; `refresh` acts on it in the session thread. A
bad file or plugin keeps what is in force, says why, and shows in the metric.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING

from vcsched.daemon.reload import DirectoryWatch, watch_configuration, watch_plugins
from vcsched.framework.conf_loader import Loader
from vcsched.framework.registry import PluginLoadError, Registry

if TYPE_CHECKING:
    from vcsched.framework.conf import Configuration
    from vcsched.framework.metrics import Metrics

log = logging.getLogger(__name__)


class InForce:
    """Reads at once: the plugins directory (PluginLoadError), then nothing until `load`."""

    def __init__(self, registry: Registry, conf: str, plugins_dir: str, metrics: Metrics, *, strict: bool) -> None:
        registry.load_custom()
        self._registry = registry
        self._metrics = metrics
        self._conf = conf
        self._plugins_dir = plugins_dir
        self._loader = Loader(conf, registry, strict=strict)
        self._conf_changed = threading.Event()
        self._plugins_changed = threading.Event()
        self._watches: list[DirectoryWatch] = []

    @property
    def configuration(self) -> Configuration:
        return self._loader.current

    def watch(self) -> None:
        """Prepare the watches. FileNotFoundError if the directory of the configuration is missing."""
        if self._conf:
            self._watches.append(watch_configuration(self._conf, self.note_conf))
        if self._plugins_dir:
            try:
                self._watches.append(watch_plugins(self._plugins_dir, self.note_plugins))
            except FileNotFoundError as error:
                log.warning("--plugins-dir: %s", error)

    def start(self) -> None:
        """Begin to watch. The threads get the priority of the caller's."""
        for watch in self._watches:
            watch.start()

    def load(self) -> None:
        """The first load. ConfigurationError or OSError where a good file is demanded."""
        self._loader.load()
        self._metrics.set_configuration_valid(self._loader.valid)

    def note_conf(self) -> None:
        """The configuration file may have changed. Any thread."""
        self._conf_changed.set()

    def note_plugins(self) -> None:
        """The plugins directory may have changed. Any thread."""
        self._plugins_changed.set()

    def refresh(self) -> bool:
        """Act on changes noticed since the last call; True if the scheduler must be configured anew."""
        if not (self._conf_changed.is_set() or self._plugins_changed.is_set()):
            return False
        self._conf_changed.clear()
        plugins = self._plugins_changed.is_set() and self._load_plugins()
        conf = self._loader.load()
        self._metrics.set_configuration_valid(self._loader.valid)
        if plugins or conf:
            log.info("a new configuration is in force" if conf else "custom plugins were loaded anew")
        return plugins or conf

    def _load_plugins(self) -> bool:
        self._plugins_changed.clear()
        try:
            return self._registry.load_custom()
        except PluginLoadError as error:
            log.error("custom plugins stay as they were: %s", error)
            return False

    def stop(self) -> None:
        """End the watches that run."""
        for watch in self._watches:
            with contextlib.suppress(RuntimeError):  # one that was never started
                watch.stop()
