"""Waiting for the first list of every kind: a decision on half a picture would be a wrong one.

Nodes and pods are waited for without limit; without the others the scheduler goes on after
`--resource-sync-timeout`, and says which are missing (spec 02 §2 e and g, W9).
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from vcsched.kube.objects import KINDS, Node, Object, Pod

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache

log = logging.getLogger(__name__)

_VITAL = frozenset({Node, Pod})
_SAY_S = 10.0
_LOOK_S = 0.1


def wait_for_first_lists(
    cache: SchedulerCache,
    kinds: Collection[type[Object]],
    lagging: Callable[[], Mapping[str, str]],
    timeout_s: float,
    stopped: threading.Event,
) -> bool:
    """Drain until the picture is complete; False if stopped first. `lagging` gives reasons by plural name."""
    began = time.monotonic()
    say_at = began + _SAY_S
    while not stopped.is_set():
        cache.drain()
        missing = [kind for kind in kinds if kind not in cache.synced]
        if not missing:
            log.info("all first lists are taken in after %.1f s", time.monotonic() - began)
            return True
        now = time.monotonic()
        if now - began >= timeout_s and not _VITAL.intersection(missing):
            log.warning("going on without the first list of %s", _named(missing, lagging()))
            return True
        if now >= say_at:
            say_at = now + _SAY_S
            log.warning("waiting for the first list of %s", _named(missing, lagging()))
        cache.link.wait(_LOOK_S)
    return False


def _named(missing: Collection[type[Object]], reasons: Mapping[str, str]) -> str:
    names = [KINDS[kind].plural for kind in missing]
    return ", ".join(f"{name} ({reasons[name]})" if reasons.get(name) else name for name in names)
