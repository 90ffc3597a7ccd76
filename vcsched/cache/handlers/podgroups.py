"""PodGroups: jobs get their rules (spec 02 §10.6, 01 §3.2-3.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.cache.groups import minimum_of
from vcsched.kube.keys import SCHEDULING_API
from vcsched.kube.link import Reference

if TYPE_CHECKING:
    from vcsched.cache.cache import SchedulerCache
    from vcsched.kube.objects import PodGroup
    from vcsched.kube.objects.base import Object
    from vcsched.model.job import Job


def upsert(cache: SchedulerCache, obj: PodGroup) -> None:
    """A PodGroup was added or changed. A minimum below 0 makes it invalid until it changes."""
    known = cache.picture.jobs.get(f"{obj.metadata.namespace}/{obj.metadata.name}")
    if known is not None and known.obj is not None and is_older(obj, known.obj):
        cache.keep_refusal()
        return
    job = cache.groups.apply(obj)
    flaws = _flaws(cache, job, obj)
    if flaws:
        meta = obj.metadata
        about = Reference("PodGroup", meta.namespace, meta.name, meta.uid, SCHEDULING_API)
        cache.refuse_object(about, "; ".join(flaws))


def _flaws(cache: SchedulerCache, job: Job, obj: PodGroup) -> list[str]:
    spec = obj.spec
    numbers = [("minMember", spec.min_member)]
    numbers += [(f"minTaskMember[{role}]", minimum) for role, minimum in spec.min_task_member.items()]
    flaws = [f"spec.{field} is {value}; it must be 0 or more (counts as 0)" for field, value in numbers if value < 0]
    if spec.min_resources and not job.min_resources and (unreadable := minimum_of(obj, cache.picture.space)[1]):
        flaws.append(unreadable)
    return flaws


def is_older(obj: Object, known: Object) -> bool:
    """Whether a watch event is behind what a write's reply has shown already."""
    new, old = obj.metadata.resource_version, known.metadata.resource_version
    return obj.metadata.uid == known.metadata.uid and new.isdigit() and old.isdigit() and int(new) < int(old)


def delete(cache: SchedulerCache, key: str, uid: str) -> None:
    job = cache.picture.jobs.get(key)
    if job is not None and job.obj is not None and (not uid or job.uid == uid):
        cache.groups.remove(job)
