"""The actions of the oracle by name (spec 04)."""

from collections.abc import Callable

from tests.oracle.session import Session

from .allocate import allocate
from .backfill import backfill
from .enqueue import enqueue
from .gang_evict import gang_preempt, gang_reclaim
from .preempt import preempt
from .reclaim import reclaim
from .shuffle import shuffle

ACTIONS: dict[str, Callable[[Session], None]] = {
    "enqueue": enqueue,
    "allocate": allocate,
    "backfill": backfill,
    "preempt": preempt,
    "reclaim": reclaim,
    "shuffle": shuffle,
    "gangpreempt": gang_preempt,
    "gangreclaim": gang_reclaim,
}
