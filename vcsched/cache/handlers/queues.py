"""Queues: rows of the queue table, and the jobs that waited for one (spec 02 §10.7, 01 §6)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from vcsched.kube.keys import SCHEDULING_API
from vcsched.kube.link import Reference
from vcsched.model import resources
from vcsched.model.quantity import QuantityError
from vcsched.model.queue import Queue

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.columns.space import Space
    from vcsched.kube.objects import Queue as QueueObject


def upsert(cache: SchedulerCache, obj: QueueObject) -> None:
    picture = cache.picture
    queue = picture.queues.get(obj.metadata.name)
    if queue is None:
        queue = picture.queues[obj.metadata.name] = Queue(obj, picture.queue_table.new_row())
        _read(cache, queue)
        cache.groups.queue_came(queue)
    else:
        queue.replace(obj)
        _read(cache, queue)
    picture.touched_queues[queue.name] = queue


def delete(cache: SchedulerCache, key: str, uid: str) -> None:
    picture = cache.picture
    queue = picture.queues.get(key)
    if queue is None or (uid and queue.uid != uid):
        return
    del picture.queues[key]
    cache.groups.queue_gone(queue)
    picture.touched_queues.pop(key, None)
    picture.queue_table.free(queue.row)
    cache.gone_queues.append(key)


def limits_of(obj: QueueObject, space: Space) -> dict[str, tuple[resources.Amounts, str]]:
    """The limits of a queue's spec by the name of their column: (amounts, what is wrong with them or "")."""
    found: dict[str, tuple[resources.Amounts, str]] = {}
    spec = obj.spec
    for field, listed in (
        ("capability", spec.capability), ("guarantee", spec.guarantee.resource), ("deserved", spec.deserved),
    ):  # fmt: skip
        try:
            amounts = resources.amounts(listed)
            excess = space.excess(amounts)
            flaw = f"spec.{field}: {excess} is one kind of resource too many; ignored until changed" if excess else ""
            found[field] = {} if excess else amounts, flaw
        except QuantityError as error:
            found[field] = {}, f"spec.{field}: {error}; ignored until changed"
    return found


def _read(cache: SchedulerCache, queue: Queue) -> None:
    """Limits of the spec into the queue table; a list that cannot be read counts as not given."""
    limits = limits_of(queue.obj, cache.picture.space)
    flaws = [flaw for _, flaw in limits.values() if flaw]
    if flaws:
        about = Reference("Queue", "", queue.name, queue.uid, SCHEDULING_API)
        cache.refuse_object(about, "; ".join(flaws))
    for amounts, _ in limits.values():
        for name in amounts:
            cache.picture.space.column(name)
    table, index, row = cache.picture.queue_table, cache.picture.space.index, queue.row
    table.alive[row] = True
    table.weight[row] = queue.obj.spec.weight
    table.capability[:, row] = math.inf
    table.guarantee[:, row] = 0.0
    table.deserved[:, row] = 0.0
    for field, (amounts, _) in limits.items():
        cells = getattr(table, field + "_cells")
        for name, amount in amounts.items():
            cells[index[name]][row] = amount
