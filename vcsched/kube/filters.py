"""Which objects the scheduler sees at all; the rest is dropped where it arrives.

A filter is asked at each event; an object that comes to pass is an addition, one that ceases to pass a
deletion (spec 02 §9.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from vcsched.kube.objects import Pod


def own_or_bound(scheduler_names: Iterable[str]) -> Callable[[Pod], bool]:
    """Keep our own pods, and foreign ones once they are bound and take room on a node."""
    own = frozenset(scheduler_names)

    def keep(pod: Pod) -> bool:
        return bool(pod.spec.node_name) or pod.spec.scheduler_name in own

    return keep
