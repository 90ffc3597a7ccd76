"""One try of one write: which requests it takes, and what their answers mean.

Every function either returns how the write ended or raises the `ApiError` that stood in the way; whether
and when to try again is the writer's business, what a second try must know is kept in the job. Statuses are
patched; where our role has no patch, or after a conflict, the fresh object is read, our fields are laid into
it and it is put back whole. The reference's exact role and our own both work (spec 08 §8.1, §0.1, §2.7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import msgspec

from vcsched.kube import bodies, keys, splice
from vcsched.kube.client import MERGE_PATCH, STRATEGIC_PATCH, Client
from vcsched.kube.errors import ApiError
from vcsched.kube.known import Known
from vcsched.kube.lanes import Job
from vcsched.kube.link import Bind, Event, Evict, PodGroupStatus, PodStatus, QueueStatus, Reference
from vcsched.kube.objects import KINDS, Object, Pod, PodGroup, Queue, decode, key_of
from vcsched.kube.verbs import Verbs

O = TypeVar("O", bound=Object)  # noqa: E741

MARK_TRIES = 2
"""An eviction goes on to the deletion when its conditions could not be written in this many tries."""


class Outcome(NamedTuple):
    """How a write ended; the fields of `Wrote`."""

    ok: bool
    status: int = 0
    reason: str = ""
    obj: Any = None


class Applier:
    """Carries out single tries.

    `known` has what the reflectors know by kind (may lack kinds); `record` takes events; `try_s` is the
    deadline of one request.
    """

    def __init__(
        self,
        client: Client,
        known: Mapping[type[Object], Known[Any]],
        record: Callable[[Event], None],
        try_s: float = 10.0,
    ) -> None:
        self.verbs = Verbs()
        self._client = client
        self._known = known
        self._record = record
        self._try_s = try_s
        self._pods = KINDS[Pod]
        self._podgroups = KINDS[PodGroup]
        self._queues = KINDS[Queue]

    async def apply(self, job: Job) -> Outcome:
        """Try once. Raises `ApiError` and `FencedError`."""
        message = job.message
        if isinstance(message, Bind):
            return await self._bind(job, message)
        if isinstance(message, Evict):
            return await self._evict(job, message)
        if isinstance(message, PodStatus):
            return await self._pod_status(job, message)
        if isinstance(message, PodGroupStatus):
            return await self._podgroup_status(job, message)
        return await self._queue_status(job, message)

    # ---------------------------------------------------------------- pods

    async def _bind(self, job: Job, bind: Bind) -> Outcome:
        if job.unsure:
            outcome = await self.whether_bound(bind)
            if outcome is not None:
                return outcome
        path = self._pods.path(bind.namespace, bind.name, "binding")
        try:
            await self._client.create(path, bodies.binding(bind), self._try_s)
        except ApiError as error:
            if error.status == 409 or error.status >= 500 or (error.status == 0 and error.sent):
                job.unsure = True
            if error.status == 409:
                outcome = await self.whether_bound(bind)
                if outcome is not None:
                    return outcome
            raise
        return self._bound(bind, 201)

    async def whether_bound(self, bind: Bind) -> Outcome | None:
        """What became of a bind whose outcome is not known; None if the pod still waits for it."""
        try:
            pod = decode(Pod, await self._client.get(self._pods.path(bind.namespace, bind.name)))
        except ApiError as error:
            if error.status == 404:
                return Outcome(False, 404, f"pod {bind.namespace}/{bind.name} is gone")
            raise
        name = f"pod {bind.namespace}/{bind.name}"
        if pod.metadata.uid != bind.uid:
            return Outcome(False, 409, f"{name} was replaced by another pod of the same name")
        if pod.spec.node_name == bind.node:
            return self._bound(bind, 200)
        if pod.spec.node_name:
            return Outcome(False, 409, f"{name} is already assigned to node {pod.spec.node_name}")
        if pod.metadata.deletion_timestamp is not None:
            return Outcome(False, 409, f"{name} is being deleted")
        return None

    def _bound(self, bind: Bind, status: int) -> Outcome:
        text = f"Successfully assigned {bind.namespace}/{bind.name} to {bind.node}"
        self._record(Event(_pod(bind), "Normal", keys.EVENT_SCHEDULED, text))
        return Outcome(True, status)

    async def _evict(self, job: Job, evict: Evict) -> Outcome:
        """Conditions as far as possible, then always the deletion; a pod that is gone was evicted."""
        if not job.marked:
            try:
                await self._write_pod_status(job, evict)
            except ApiError as error:
                if error.status == 404:
                    return Outcome(True, 404)
                if error.worth_a_retry and job.tries + 1 < MARK_TRIES:
                    raise
            job.marked = True
        path = self._pods.path(evict.namespace, evict.name)
        try:
            await self._client.delete(path, bodies.deletion(evict.uid), self._try_s)
        except ApiError as error:
            if error.status == 404 or (error.status == 409 and await self._replaced(evict)):
                return Outcome(True, error.status)
            raise
        self._record(Event(_pod(evict), "Warning", keys.EVENT_EVICT, evict.message))
        return Outcome(True, 200)

    async def _replaced(self, evict: Evict) -> bool:
        """Whether another pod of the same name stands in the place of ours by now."""
        try:
            pod = decode(Pod, await self._client.get(self._pods.path(evict.namespace, evict.name)))
        except ApiError as error:
            if error.status == 404:
                return True
            raise
        return pod.metadata.uid != evict.uid

    async def _pod_status(self, job: Job, write: PodStatus) -> Outcome:
        return self._news(Pod, await self._write_pod_status(job, write))

    async def _write_pod_status(self, job: Job, write: PodStatus | Evict) -> bytes:
        path = self._pods.path(write.namespace, write.name, "status")
        now = bodies.now_text()
        if self.verbs.may("patch", "pods/status"):
            if job.stale:  # the conflict may have been the UID: is it still our pod?
                await self._fresh(Pod, write.namespace, write.name, write.uid)
            seen = self._seen(Pod, f"{write.namespace}/{write.name}")
            if seen is not None and seen.metadata.uid != write.uid:
                seen = None
            body = bodies.pod_patch(write, seen, now)
            try:
                return await self._client.patch(path, body, STRATEGIC_PATCH, self._try_s)
            except ApiError as error:
                if error.status == 422 and "metadata.uid" in error.message:  # how a real server says it
                    text = f"Pod {write.namespace}/{write.name} was replaced by a namesake"
                    raise ApiError(404, "NotFound", text) from error
                if not error.forbidden_by_role:
                    raise
                self.verbs.refuse("patch", "pods/status")
        raw = await self._fresh(Pod, write.namespace, write.name, write.uid)
        if not splice.pod_status(raw, write, now):
            return bodies.whole(raw)
        return await self._client.put(path, bodies.whole(raw), self._try_s)

    # ---------------------------------------------------------------- PodGroups and Queues

    async def _podgroup_status(self, job: Job, write: PodGroupStatus) -> Outcome:
        """The status of a PodGroup lives in the main resource. A conflict means news: read, lay in, guard."""
        resource = self._podgroups
        path = resource.path(write.namespace, write.name)
        version = self._newest(write)
        if not job.stale and self.verbs.may("patch", resource.plural):
            try:
                body = bodies.podgroup_patch(write, version)
                return self._news(PodGroup, await self._client.patch(path, body, MERGE_PATCH, self._try_s))
            except ApiError as error:
                if error.forbidden_by_role:
                    self.verbs.refuse("patch", resource.plural)
                elif error.status not in (409, 422):  # 422: the guard met another UID
                    raise
                job.stale = True
        raw = await self._fresh(PodGroup, write.namespace, write.name, write.uid)
        if not splice.podgroup(raw, write):
            return self._news(PodGroup, bodies.whole(raw))
        if self.verbs.may("patch", resource.plural):
            again = msgspec.structs.replace(write, status=_only(raw["status"], write.status))
            body = bodies.podgroup_patch(again, raw["metadata"].get("resourceVersion", ""))
            return self._news(PodGroup, await self._client.patch(path, body, MERGE_PATCH, self._try_s))
        return self._news(PodGroup, await self._client.put(path, bodies.whole(raw), self._try_s))

    async def _queue_status(self, job: Job, write: QueueStatus) -> Outcome:
        resource = self._queues
        path = resource.path("", write.name, "status")
        if self.verbs.may("patch", "queues/status"):
            try:
                body = bodies.queue_patch(write.allocated, self._seen(Queue, write.name))
                raw = await self._client.patch(path, body, MERGE_PATCH, self._try_s)
                queue = decode(Queue, raw)
                if (queue.status.allocated or {}).keys() - write.allocated.keys():
                    body = bodies.queue_patch(write.allocated, queue)
                    raw = await self._client.patch(path, body, MERGE_PATCH, self._try_s)
                return self._news(Queue, raw)
            except ApiError as error:
                if not error.forbidden_by_role:
                    raise
                self.verbs.refuse("patch", "queues/status")
        found = await self._fresh(Queue, "", write.name, "")
        if not splice.queue(found, write.allocated):
            return self._news(Queue, bodies.whole(found))
        return self._news(Queue, await self._client.put(path, bodies.whole(found), self._try_s))

    # ---------------------------------------------------------------- parts

    async def _fresh(self, kind: type[Object], namespace: str, name: str, uid: str) -> dict[str, Any]:
        """The newest state of an object as a dict. Raises 404 also if another one has its name by now."""
        resource = KINDS[kind]
        raw = b""
        if self.verbs.may("get", resource.plural):
            try:
                raw = await self._client.fresh(kind, namespace, name)
            except ApiError as error:
                if not error.forbidden_by_role:
                    raise
                self.verbs.refuse("get", resource.plural)
        if not raw:
            raw = await self._client.fresh(kind, namespace, name, by_list=True)
        found: dict[str, Any] = msgspec.json.decode(raw)
        if uid and found.get("metadata", {}).get("uid") != uid:
            raise ApiError(404, "NotFound", f"{resource.kind} {namespace}/{name} was replaced by a namesake")
        found.setdefault("apiVersion", resource.api_version)  # list items come without
        found.setdefault("kind", resource.kind)
        return found

    def _seen(self, kind: type[O], key: str) -> O | None:
        known: Known[O] | None = self._known.get(kind)
        return known.get(key) if known is not None else None

    def _newest(self, write: PodGroupStatus) -> str:
        known = self._known.get(PodGroup)
        if known is None:
            return write.resource_version
        return known.newest(f"{write.namespace}/{write.name}", write.uid, write.resource_version)

    def _news(self, kind: type[O], raw: bytes) -> Outcome:
        """A write that went well, with the object of the reply if it is news."""
        try:
            obj = decode(kind, raw)
        except msgspec.DecodeError:
            return Outcome(True, 200)
        known: Known[O] | None = self._known.get(kind)
        if known is None or not key_of(obj):
            return Outcome(True, 200, "", obj)
        return Outcome(True, 200, "", known.saw(obj))


def _pod(write: Bind | Evict) -> Reference:
    return Reference("Pod", write.namespace, write.name, write.uid)


def _only(status: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
    return {name: status[name] for name in wanted}
