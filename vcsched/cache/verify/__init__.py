"""Proof that the picture is what its objects say: everything kept is recomputed and compared.

Run after every session in every test, between sessions; it costs as much as reading everything. With
`inside_session` it may also be run while statements are open. Design-notes §4, invariants 1, 2, 3, 6, 7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.cache.verify.differences import Inconsistent
from vcsched.cache.verify.jobs import verify_jobs
from vcsched.cache.verify.nodes import verify_nodes
from vcsched.cache.verify.queues import verify_queues
from vcsched.cache.verify.tasks import verify_tasks

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache


def verify(cache: SchedulerCache, *, inside_session: bool = False) -> None:
    """Raise `Inconsistent` unless every column, count, index set, tally and pod counter equals its
    recomputation from the objects."""
    picture = cache.picture
    verify_tasks(cache, inside_session=inside_session)
    verify_nodes(picture, inside_session=inside_session)
    verify_jobs(picture, inside_session=inside_session)
    verify_queues(picture)
    try:
        picture.counters.verify()
    except AssertionError as difference:
        raise Inconsistent(f"pod counters: {difference}") from None


__all__ = ["Inconsistent", "verify"]
