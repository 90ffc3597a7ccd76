"""What there is to run, by suite and name. Each entry is a function without arguments that gives figures."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import binds, decode, endtoend, hopeless, idle, queues, session, start, victims
from benchmarks.figures import Figure

Benchmark = Callable[[], list[Figure]]

SUITES: dict[str, dict[str, Benchmark]] = {
    "quick": {
        "placements": session.placements,
        "different": session.different,
        "mixed": session.mixed,
        "fresh-gang": session.fresh_gang,
        "idle": idle.middle,
        "hopeless": hopeless.hopeless,
        "preempt": victims.preempt,
        "reclaim": victims.reclaim,
        "decode": decode.decode,
        "binds": binds.binds,
    },
    "full": {
        "idle-large": idle.large,
        "queues": queues.tree,
        "start": start.start,
    },
    "e2e": endtoend.SCENARIOS,
}
