"""Which configuration is in force: the built-in one, the file's, or the last good one (spec 02 §6.2, §6.4).

`load` is called by the session thread between sessions; a configuration that a session uses never
changes under it. Watching the file is `daemon.reload`'s business.
"""

import logging
from pathlib import Path
from typing import Protocol

from vcsched.framework.conf import Configuration, parse
from vcsched.framework.findings import ConfigurationError

log = logging.getLogger(__name__)
_V2 = logging.INFO - 2

BUILT_IN = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
"""


class KnownNames(Protocol):
    """Where the names of actions and plugins come from: the registry."""

    def action_names(self) -> frozenset[str]: ...
    def plugin_names(self) -> frozenset[str]: ...


class Loader:
    """Holds the configuration in force as `current`.

    `valid` is false while the file cannot be put in force (what `vcsched_configuration_valid` shows) and
    `error` then says why. With `strict`, the first load raises ConfigurationError or OSError where there is
    no good file; later a bad edit keeps the last good configuration in either mode.
    """

    def __init__(self, path: str, names: KnownNames, *, strict: bool = False) -> None:
        self._path = path
        self._names = names
        self._strict = strict
        self._read: str | None = None
        self.current = self._parse(BUILT_IN)
        self.valid = True
        self.error = ""

    def load(self) -> bool:
        """Read the file; True if another configuration came into force."""
        first, last = self._read is None, self._read
        try:
            text = self._text()
            if text == last:
                return False
            self._read = text
            configuration = self._parse(text)
        except (OSError, UnicodeDecodeError, ConfigurationError) as error:
            self._refuse(error, first)
            return False
        self.valid, self.error = True, ""
        self.current = configuration
        log.log(_V2, "Successfully loaded Scheduler conf as follows:")
        for line in configuration.text.splitlines():
            log.log(_V2, "%s", line)
        for finding in configuration.findings:
            log.warning("%s:%s", self._path or "built-in configuration", finding)
        return True

    def _text(self) -> str:
        if self._path:
            return Path(self._path).read_text(encoding="utf-8")
        if self._strict:
            raise FileNotFoundError(
                "no --scheduler-conf is given, and --disable-default-scheduler-config forbids the built-in "
                "configuration; give one or the other"
            )
        return BUILT_IN

    def _parse(self, text: str) -> Configuration:
        return parse(text, self._names.action_names(), self._names.plugin_names())

    def _refuse(self, error: OSError | UnicodeDecodeError | ConfigurationError, first: bool) -> None:
        self.valid, self.error = False, str(error)
        if first and self._strict:
            raise error
        self._read = self._read or ""
        kept = "the built-in configuration" if self.current.text == BUILT_IN else "the last good one"
        log.error("scheduler configuration %s is refused, %s stays in force: %s", self._path, kept, error)
