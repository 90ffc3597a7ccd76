"""What the I/O side is made of and what it tells of itself: plain values that pass between processes.

Nothing else is imported here, so that the daemon's own process, which never speaks to the API server, need not
load what speaks HTTP and reads kubeconfigs.
"""

from __future__ import annotations

import logging
import socket
import uuid
from dataclasses import dataclass, field

LOST = 0
"""The number of what the I/O process says unasked: the lease is lost. Calls count from 1."""


@dataclass(frozen=True)
class Pace:
    """The times of a reflector, in seconds.

    `silence_s`: API servers send a bookmark a minute, so a longer silence is a dead connection.
    `gone_after`: how many looks, `absent_s` apart, must find a once served kind missing before its objects
    are given up; an API server that starts up answers 404 for custom resources for a moment.
    """

    page: int = 500
    watch_s: float = 480.0
    silence_s: float = 100.0
    list_s: float = 60.0
    absent_s: float = 30.0
    retry_s: float = 0.5
    retry_most_s: float = 30.0
    gone_after: int = 3


@dataclass(frozen=True)
class Patience:
    """How long the writer tries, in seconds: a whole write, and the pauses between tries.

    `events_s`: at the end Events are sent for so long at most and then forgotten, as the next leader waits for our
    lease.
    """

    deadline_s: float = 60.0
    pause_s: float = 0.1
    pause_most_s: float = 5.0
    events_s: float = 2.0


def new_identity() -> str:
    """ "<hostname>_<random uuid>"."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


@dataclass(frozen=True)
class LeaseSettings:
    """The flags `--leader-elect-*`; durations in seconds."""

    namespace: str = "volcano-system"
    name: str = "volcano"
    duration_s: float = 15.0
    renew_deadline_s: float = 10.0
    retry_s: float = 2.0
    identity: str = field(default_factory=new_identity)


@dataclass(frozen=True)
class IOSettings:
    """What the I/O side is made of; see `io.IO` and `config.Login`."""

    kubeconfig: str
    master: str
    own_names: tuple[str, ...]
    qps: float = 2000.0
    burst: int = 2000
    lease: LeaseSettings | None = None
    pace: Pace | None = None
    patience: Patience | None = None
    log_level: int = logging.INFO


@dataclass(frozen=True)
class Stats:
    """Figures for metrics and the readiness endpoint, taken at one moment."""

    unfinished_writes: int
    parallelism: int
    dropped_events: int
    objects: dict[str, int]  # by kind
    leading: bool
