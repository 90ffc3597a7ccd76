"""The selector by which a pod without spread constraints is spread: that of its Services and its owner.

Services are indexed by namespace; a namespace is indexed anew after one of its workloads changed. Owners
are looked up by name. Spec 06 §3.7 rule 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.cache.labelindex import SelectorIndex
from vcsched.kube.objects import ReplicaSet, ReplicationController, Service, StatefulSet
from vcsched.model.selectors import NOBODY, LabelRule, Selector, compile_pairs
from vcsched.model.spread import default_rule

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.kube.objects import Pod

_OWNERS = {
    ("v1", "ReplicationController"): ReplicationController,
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
}


class WorkloadSelectors:
    """`rule_of(pod)`; the objects are the picture's, which says `changed(namespace)`."""

    def __init__(self, picture: Picture) -> None:
        self._picture = picture
        self._services: SelectorIndex[str] = SelectorIndex()
        self._filed: dict[str, dict[str, Selector]] = {}  # namespace -> key of a Service -> as filed
        self._rules: dict[tuple[object, ...], LabelRule] = {}
        self._stale: set[str] = set()
        self._all_stale = True

    def changed(self, namespace: str) -> None:
        """A Service or workload of this namespace came, went, or selects other pods."""
        self._stale.add(namespace)

    def rule_of(self, pod: Pod) -> LabelRule:
        """Whom the pod is spread against; `NOBODY` where no workload selects it."""
        if self._all_stale or self._stale:
            self._file()
        meta = pod.metadata
        keys = self._services.find(meta.namespace, meta.labels) if meta.namespace in self._filed else ()
        owner = self._owner(pod) if meta.owner_references else None
        if not keys and owner is None:
            return NOBODY
        name = (*keys, owner)
        rule = self._rules.get(name)
        if rule is None:
            services = [self._picture.workloads[Service][key].spec.selector for key in sorted(keys)]
            selector = None if owner is None else self._picture.workloads[owner[0]][owner[1]].spec.selector
            rule = self._rules[name] = default_rule(services, selector)
        return rule

    def _owner(self, pod: Pod) -> tuple[type, str] | None:
        for reference in pod.metadata.owner_references:
            kind = _OWNERS.get((reference.api_version, reference.kind)) if reference.controller else None
            if kind is not None:
                key = f"{pod.metadata.namespace}/{reference.name}"
                return (kind, key) if key in self._picture.workloads.get(kind, {}) else None
        return None

    def _file(self) -> None:
        services = self._picture.workloads.get(Service, {})
        stale = None if self._all_stale else self._stale
        for namespace in list(self._filed) if stale is None else stale:
            for key, selector in self._filed.pop(namespace, {}).items():
                self._services.remove(selector, key)
        for key, service in services.items():
            namespace = service.metadata.namespace
            if service.spec.selector and (stale is None or namespace in stale):
                selector = Selector(frozenset((namespace,)), compile_pairs(service.spec.selector))
                self._services.add(selector, key)
                self._filed.setdefault(namespace, {})[key] = selector
        self._rules.clear()
        self._stale.clear()
        self._all_stale = False
