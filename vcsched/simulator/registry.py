"""The rules of writing: what a create, update, patch, delete or bind does to the stored objects.

Optimistic concurrency, uids and generations, the status subresource, graceful deletion, finalizers, bindings.
The HTTP side (`apiserver`) only translates; the stand-ins (`kubelet`, `replicas`) write through here, too.
"""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from vcsched.simulator import admission
from vcsched.simulator.admission import condition, set_condition
from vcsched.simulator.errors import ApiError, conflict, not_found
from vcsched.simulator.resources import BY_KIND, BY_PLURAL, Resource
from vcsched.simulator.selectors import matches
from vcsched.simulator.store import Obj, Store, Version

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"
_MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"
_NEEDS_VERSION = {"leases.coordination.k8s.io"}
_WITHOUT_GENERATION = {
    "configmaps", "events", "namespaces", "nodes", "secrets", "serviceaccounts", "services",
    "leases.coordination.k8s.io", "persistentvolumes", "persistentvolumeclaims", "resourcequotas",
}  # fmt: skip

PODS = BY_PLURAL["", "v1", "pods"]
NAMESPACES = BY_PLURAL["", "v1", "namespaces"]
NODES = BY_PLURAL["", "v1", "nodes"]


def key_of(namespace: str, name: str) -> str:
    """The key in a table."""
    return f"{namespace}/{name}" if namespace else name


class Registry:
    """Reads and writes by the API's rules. Every method either does its work at once or raises ApiError."""

    def __init__(self, store: Store, seed: int = 0) -> None:
        self.store = store
        self._pods = store.table(PODS.table)
        self._namespaces = store.table(NAMESPACES.table)
        self._random = random.Random(seed)
        self._second = 0
        self._stamp = ""

    def now(self) -> str:
        """The present second as Kubernetes writes it."""
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._stamp = stamp_of(second)
        return self._stamp

    # ---------------------------------------------------------------- reading

    def get(self, resource: Resource, namespace: str, name: str) -> Version:
        """The present version; ApiError 404."""
        found = self.store.table(resource.table).objects.get(key_of(namespace, name))
        if found is None:
            raise not_found(resource.plural, resource.group, name)
        return found

    # ---------------------------------------------------------------- create

    def load(self, obj: Obj) -> Version:
        """Put an object as it is, with its uid, creation time and status, as if it had always been there.

        ApiError if it has no name or its kind is not served.
        """
        obj = msgspec.json.decode(msgspec.json.encode(obj))  # the caller's stays the caller's
        meta = obj.get("metadata") if isinstance(obj, dict) else None
        if not isinstance(meta, dict) or not meta.get("name"):
            raise ApiError(400, f"an object needs apiVersion, kind and metadata.name, not {str(obj)[:200]}")
        resource = BY_KIND.get((obj.get("apiVersion", ""), obj.get("kind", "")))
        if resource is None:
            what = f"{obj.get('kind')} {meta['name']}"
            raise ApiError(404, f"{what}: kind {obj.get('kind')!r} of {obj.get('apiVersion')!r} is not served here")
        if resource.namespaced:
            meta.setdefault("namespace", "default")
        admission.check_shape(resource, obj)
        meta.setdefault("uid", str(uuid.uuid4()))
        meta.setdefault("creationTimestamp", self.now())
        admission.defaults(resource, obj)
        table = self.store.table(resource.table)
        return self.store.put(table, key_of(meta.get("namespace", ""), meta["name"]), obj)

    def create(self, resource: Resource, namespace: str, obj: Obj, *, dry_run: bool = False) -> Version:
        """Store a new object; `obj` becomes the registry's own."""
        meta = obj.get("metadata") if isinstance(obj, dict) else None
        if not isinstance(meta, dict):
            raise ApiError(400, f"{resource.kind} without metadata: give metadata.name or metadata.generateName")
        admission.check_shape(resource, obj)
        if resource.namespaced:
            if meta.setdefault("namespace", namespace) != namespace:
                raise ApiError(
                    400,
                    "the namespace of the provided object does not match the namespace sent on the request",
                )
            self._check_namespace(namespace)
        else:
            meta.pop("namespace", None)
        if not meta.get("name"):
            if not meta.get("generateName"):
                raise ApiError(422, f"{resource.kind} is invalid: metadata.name: Required value: name or generateName")
            meta["name"] = meta["generateName"] + "".join(self._random.choices(_SUFFIX, k=5))
        name = meta["name"]
        admission.check_name(resource, name)
        table = self.store.table(resource.table)
        key = key_of(namespace if resource.namespaced else "", name)
        if key in table.objects:
            full = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
            raise ApiError(
                409,
                f'{full} "{name}" already exists',
                reason="AlreadyExists",
                kind=resource.plural,
                name=name,
            )
        now = self.now()
        obj["apiVersion"] = resource.api_version
        obj["kind"] = resource.kind
        for given in ("resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"):
            meta.pop(given, None)
        meta["uid"] = str(uuid.UUID(int=self._random.getrandbits(128), version=4))
        meta["creationTimestamp"] = now
        if resource.table not in _WITHOUT_GENERATION:
            meta["generation"] = 1
        admission.on_create(self.store, resource, obj, now)
        return Version(key, obj, 0) if dry_run else self.store.put(table, key, obj)

    def _check_namespace(self, namespace: str) -> None:
        found = self._namespaces.objects.get(namespace)
        if found is None:
            raise not_found("namespaces", "", namespace)
        if "deletionTimestamp" in found.obj["metadata"]:
            message = f"unable to create new content in namespace {namespace} because it is being terminated"
            raise ApiError(403, message)

    # ---------------------------------------------------------------- update

    def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        change: Callable[[Obj], Obj],
        *,
        subresource: str = "",
        patch: bool = False,
        dry_run: bool = False,
    ) -> Version:
        """Replace an object by `change(present object)`; the function must not alter what it is given.

        With `subresource` "status" only the status is taken, otherwise everything but it (where there is such
        a subresource). The resourceVersion in the result, if any, must be the present one.
        """
        old = self.get(resource, namespace, name)
        new = change(old.obj)
        if not isinstance(new, dict) or not isinstance(new.get("metadata"), dict):
            raise ApiError(400, f"{resource.kind} {name}: the body must be an object with metadata")
        was: Obj = old.obj["metadata"]
        given: Obj = new["metadata"]
        if given.get("name", name) != name:
            raise ApiError(
                400,
                f"the name of the object ({given['name']}) does not match the name on the URL ({name})",
            )
        if given.get("uid", was["uid"]) != was["uid"]:
            why = f"Precondition failed: UID in precondition: {given['uid']}, UID in object meta: {was['uid']}"
            raise conflict(resource.plural, resource.group, name, why)
        version = given.get("resourceVersion", "")
        if version and version != was["resourceVersion"]:
            raise conflict(resource.plural, resource.group, name, _MODIFIED)
        if not version and not patch and (resource.columns is not None or resource.table in _NEEDS_VERSION):
            raise ApiError(
                422,
                f'{resource.kind} "{name}" is invalid: metadata.resourceVersion: Invalid value: 0x0: '
                "must be specified for an update",
            )
        if subresource == "status":
            made = {**old.obj, "metadata": dict(was)}
            if "status" in new:
                made["status"] = new["status"]
            else:
                made.pop("status", None)
        else:
            made = {**new, "apiVersion": old.obj["apiVersion"], "kind": old.obj["kind"]}
            if resource.status and "status" in old.obj:
                made["status"] = old.obj["status"]
            elif resource.status:
                made.pop("status", None)
            made["metadata"] = {**given, **_kept(was)}
            admission.check_shape(resource, made)
            admission.defaults(resource, made)
            if resource is PODS:
                admission.check_pod_update(old.obj, made)
            if "generation" in was and admission.generation_follows(resource, old.obj, made):
                made["metadata"]["generation"] = was["generation"] + 1
        return self._save(resource, old, made, dry_run=dry_run)

    def _save(self, resource: Resource, old: Version, made: Obj, *, dry_run: bool = False) -> Version:
        meta = made["metadata"]
        meta["resourceVersion"] = old.obj["metadata"]["resourceVersion"]
        if made == old.obj:  # nothing changes: no version, no event
            return old
        if dry_run:
            return Version(old.key, made, old.rv)
        table = self.store.table(resource.table)
        if "deletionTimestamp" in meta and not meta.get("finalizers") and self._may_go(resource, made):
            return self.store.remove(table, old.key)
        return self.store.put(table, old.key, made)

    @staticmethod
    def _may_go(resource: Resource, obj: Obj) -> bool:
        return resource is not PODS or not obj["metadata"].get("deletionGracePeriodSeconds")

    # ---------------------------------------------------------------- pods

    def bind(self, namespace: str, name: str, binding: Obj) -> Version:
        """Give a pod its node, once (`pods/NAME/binding`); the annotations given are laid over the pod's."""
        key = f"{namespace}/{name}"
        old = self._pods.objects.get(key)
        if old is None:
            raise not_found("pods", "", name)
        pod = old.obj
        was = pod["metadata"]
        asked = binding.get("metadata") or {}
        uid = asked.get("uid")
        if uid and uid != was["uid"]:
            why = f"Precondition failed: UID in precondition: {uid}, UID in object meta: {was['uid']}"
            raise conflict("pods/binding", "", name, why)
        node = (binding.get("target") or {}).get("name")
        if not node:
            raise ApiError(422, f'Binding "{name}" is invalid: target.name: Required value')
        spec = pod["spec"]
        if "deletionTimestamp" in was:
            why = f"pod {name} is being deleted, cannot be assigned to a host"
            raise conflict("pods/binding", "", name, why)
        if spec.get("nodeName"):
            why = f"pod {name} is already assigned to node {spec['nodeName']!r}"
            raise conflict("pods/binding", "", name, why)
        if spec.get("schedulingGates"):
            raise conflict("pods/binding", "", name, f"pod {name} has non-empty .spec.schedulingGates")
        meta = dict(was)
        if overlay := asked.get("annotations"):
            meta["annotations"] = {**(was.get("annotations") or {}), **overlay}
        status = pod.get("status") or {}
        conditions = status.get("conditions")
        scheduled = condition("PodScheduled", "True", self.now())
        made = {
            **pod,
            "metadata": meta,
            "spec": {**spec, "nodeName": node},
            "status": {
                **status,
                "conditions": set_condition(conditions, scheduled) if conditions else [scheduled],
            },
        }
        return self.store.put(self._pods, key, made)

    def evict(self, namespace: str, name: str, eviction: Obj) -> Version:
        """Delete a pod unless a disruption budget forbids it now (429)."""
        pod = self.get(PODS, namespace, name).obj
        labels = pod["metadata"].get("labels") or {}
        for version in self.store.table("poddisruptionbudgets.policy").objects.values():
            budget = version.obj
            if budget["metadata"]["namespace"] != namespace:
                continue
            selected = matches(budget.get("spec", {}).get("selector"), labels)
            if selected and budget.get("status", {}).get("disruptionsAllowed", 0) < 1:
                raise ApiError(429, "Cannot evict pod as it would violate the pod's disruption budget.", name=name)
        return self.delete(PODS, namespace, name, eviction.get("deleteOptions") or {})

    # ---------------------------------------------------------------- delete

    def delete(self, resource: Resource, namespace: str, name: str, options: Obj) -> Version:
        """Delete by `DeleteOptions`; returns the last version, or the one marked for deletion.

        Pods on a node are marked and left to the kubelet stand-in; objects with finalizers wait for those.
        """
        old = self.get(resource, namespace, name)
        was = old.obj["metadata"]
        wanted = options.get("preconditions") or {}
        for field, have in (("uid", was["uid"]), ("resourceVersion", was["resourceVersion"])):
            if wanted.get(field) and wanted[field] != have:
                label = "UID" if field == "uid" else "ResourceVersion"
                why = f"Precondition failed: {label} in precondition: {wanted[field]}, {label} in object meta: {have}"
                raise conflict(resource.plural, resource.group, name, why)
        if options.get("propagationPolicy") == "Orphan":
            self._orphan(was["uid"])
        grace = self._grace(old.obj, options) if resource is PODS else 0
        if not grace and not was.get("finalizers"):
            if resource is NAMESPACES:
                self._empty(name)
            return self.store.remove(self.store.table(resource.table), old.key)
        before = was.get("deletionGracePeriodSeconds")
        if "deletionTimestamp" in was and (before is None or before <= grace):
            return old
        meta = {**was, "deletionGracePeriodSeconds": grace}
        meta["deletionTimestamp"] = stamp_of(time.time() + grace)
        return self.store.put(self.store.table(resource.table), old.key, {**old.obj, "metadata": meta})

    @staticmethod
    def _grace(pod: Obj, options: Obj) -> int:
        if not pod["spec"].get("nodeName") or pod.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            return 0
        asked = options.get("gracePeriodSeconds")
        return max(int(pod["spec"].get("terminationGracePeriodSeconds", 30) if asked is None else asked), 0)

    def _empty(self, namespace: str) -> None:
        for table in list(self.store.tables()):
            for key in [key for key in table.objects if key.startswith(f"{namespace}/")]:
                self.store.remove(table, key)

    def _orphan(self, uid: str) -> None:
        for table in list(self.store.tables()):
            for key, version in list(table.objects.items()):
                owners = version.obj["metadata"].get("ownerReferences") or ()
                if any(owner.get("uid") == uid for owner in owners):
                    meta = dict(version.obj["metadata"])
                    meta["ownerReferences"] = [owner for owner in owners if owner.get("uid") != uid]
                    self.store.put(table, key, {**version.obj, "metadata": meta})


def _kept(was: Obj) -> dict[str, Any]:
    """The metadata that no client changes."""
    fields = (
        "name", "namespace", "uid", "creationTimestamp", "generation", "deletionTimestamp",
        "deletionGracePeriodSeconds", "generateName",
    )  # fmt: skip
    return {field: was[field] for field in fields if field in was}


def stamp_of(seconds: float) -> str:
    """Seconds since the epoch as Kubernetes writes them."""
    return (datetime.fromtimestamp(0, UTC) + timedelta(seconds=int(seconds))).strftime("%Y-%m-%dT%H:%M:%SZ")
