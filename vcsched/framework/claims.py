"""Claims: what a queue may take from another, and whether that queue could take it back (spec 03 §7.6, 04 §7).

Plugins know what queues deserve; without one of them no queue has a better claim than another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vcsched.framework.plugin import ABSTAIN

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.job import Job
    from vcsched.model.queue import Queue
    from vcsched.model.task import Task

SHARES = frozenset({"proportion", "capacity"})
"""Plugins that know what a queue deserves; reclaim hears them in whatever tier they stand."""

WEIGHING = SHARES | {"drf"}
"""Plugins whose voice in reclaim weighs queues against each other; that of drf only with a hierarchy."""

UNWEIGHING = frozenset({"conformance", "gang", "priority", "pdb", "cdp", "tdm"})
"""Plugins that vote in reclaim without a look at queues."""


def share_lets_go(ssn: Session, reclaimer: Task, victim: Task) -> bool:
    """Whether all plugins that know shares, asked about this one victim now, let it go."""
    return all_go(ssn, SHARES, reclaimer, [victim])


def all_go(ssn: Session, plugins: frozenset[str], reclaimer: Task, tasks: Sequence[Task]) -> bool:
    """Whether these plugins let all of the tasks go, one after the other."""
    for entry in ssn.reclaimable.registered:
        if entry.plugin in plugins:
            victims, vote = entry.function(reclaimer, tasks)
            if vote != ABSTAIN and len(victims) < len(tasks):
                return False
    return True


def is_claimed_back(ssn: Session, reclaimer: Task, victim: Task) -> bool:
    """Whether the victim's queue could in turn reclaim from the reclaimer, with the room changed hands: then
    neither has the better claim, and they would go on for ever."""
    job = victim.job
    if job is None or not any(entry.plugin in WEIGHING for entry in ssn.reclaimable.registered):
        return False
    return ssn.preemptive(job.queue, [victim]) and all_go(ssn, WEIGHING, victim, [reclaimer])


def has_won_from(ssn: Session, victim: Job, queue: Queue) -> bool:
    """Whether a job is in the place of pods that this queue has lost. Where no plugin weighs queues, each could
    reclaim from each, and would for ever; so a queue leaves alone whom it has lost to."""
    if any(entry.plugin not in UNWEIGHING for entry in ssn.reclaimable.registered):
        return False
    return ssn.cache.evictor.ledger.has_won(victim, queue.name)
