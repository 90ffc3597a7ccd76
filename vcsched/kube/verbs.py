"""What our role does not allow, learnt from the answer 403 and remembered for a while.

The reference's role has no `patch` on statuses and no `get` on PodGroups (spec 08 §8.1); a wider role has.
Both work: the better way is tried first, and tried again some time later in case the role was changed.
"""

from __future__ import annotations

import logging
import time

log = logging.getLogger(__name__)

FORGET_S = 600.0


class Verbs:
    """Verbs refused so far, by (verb, resource), such as ("patch", "podgroups")."""

    def __init__(self) -> None:
        self._refused: dict[tuple[str, str], float] = {}
        self._said: set[tuple[str, str]] = set()

    def may(self, verb: str, resource: str) -> bool:
        """Whether it is worth trying."""
        since = self._refused.get((verb, resource))
        return since is None or time.monotonic() - since > FORGET_S

    def refuse(self, verb: str, resource: str) -> None:
        """The API server said no; the other way is taken from now on."""
        key = (verb, resource)
        self._refused[key] = time.monotonic()
        if key not in self._said:
            self._said.add(key)
            log.warning("our role has no %s on %s: doing it the longer way (one more request a write)", *key)
