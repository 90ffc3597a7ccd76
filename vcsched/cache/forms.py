"""Forms and requests: interned, so that pods of one template share them (design-notes §2.6).

What a form is made of is decided here: two pods with the same key get the same answer from every filter
and score. Names of volumes and mounts stay out, since a token volume has a random name.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

import msgspec

from vcsched.columns.space import CPU, MEMORY, PODS, Space
from vcsched.kube.objects import Container, Pod
from vcsched.model import algebra
from vcsched.model.form import Form
from vcsched.model.quantity import MOST, QuantityError
from vcsched.model.requests import asked_by, nonzero_request, pod_request
from vcsched.model.resources import human
from vcsched.model.task import Request

_encode = msgspec.msgpack.Encoder().encode

_ALWAYS = {"cpu": 0.0, "memory": 0.0}  # compared also where a pod asks for neither: a node may be overdrawn

ShapeKey = Callable[[Pod], Hashable]


class Forms:
    """Intern tables; `shape_keys` are what enabled plugins declare to read beyond the built-in key."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._requests: dict[Hashable, Request] = {}
        self._read: dict[Hashable, Request] = {}  # by what was read, so that a template is read once
        self._forms: dict[Hashable, Form] = {}
        self._nothing = Request(((CPU, 0.0), (MEMORY, 0.0), (PODS, 1.0)), {"pods": 1.0}, False, 0.0, 0.0)
        self.shape_keys: tuple[ShapeKey, ...] = ()

    def request(self, pod: Pod) -> Request:
        """What the pod asks for. Raises `QuantityError` naming the resource."""
        asked = asked_by(pod)
        found = self._read.get(asked)
        if found is None:
            found = self._sum_up(pod)
            if asked is not None:
                self._read[asked] = found
        return found

    def _sum_up(self, pod: Pod) -> Request:
        amounts = pod_request(pod)
        if excess := self._space.excess(amounts):
            raise QuantityError(f"{excess} is offered by no node, and too many other resources are asked for already")
        for name, amount in amounts.items():
            if not -MOST <= amount <= MOST:
                most = human(name, MOST)
                raise QuantityError(f"{name} comes to {human(name, amount)}; at most {most} can be counted exactly")
        nonzero = nonzero_request(pod)
        key = (tuple(amounts.items()), nonzero)
        found = self._requests.get(key)
        if found is None:
            column = self._space.column
            found = self._requests[key] = Request(
                items=tuple((column(name), amount) for name, amount in {**_ALWAYS, **amounts}.items()),
                by_name=amounts,
                best_effort=algebra.is_empty(amounts),
                nonzero_cpu=nonzero[0],
                nonzero_memory=nonzero[1],
            )
        return found

    def nothing_asked(self) -> Request:
        """The request of a pod whose own cannot be read: a place for one pod. It is not best effort, since such
        pods count for a gang before they are placed, and this one never will be."""
        return self._nothing

    def form(self, pod: Pod, request: Request) -> Form:
        """The form of a pod whose request is known."""
        spec = pod.spec
        containers = spec.containers
        inits = spec.init_containers
        extra = tuple([key(pod) for key in self.shape_keys]) if self.shape_keys else ()
        key = (
            pod.metadata.namespace,
            id(request),
            _encode((spec.node_selector, spec.affinity, spec.tolerations, spec.topology_spread_constraints))
            if spec.node_selector or spec.affinity or spec.tolerations or spec.topology_spread_constraints
            else None,
            tuple([container.image for container in containers]),
            tuple([container.image for container in inits]) if inits else None,
            tuple([_host_ports(container) if container.ports else None for container in (*containers, *inits)]),
            pod.metadata.uid if spec.resource_claims or (spec.volumes and _has_claims(pod)) else None,
            extra,
        )
        found = self._forms.get(key)
        if found is None:
            found = self._forms[key] = Form(pod.metadata.namespace, request, spec, extra)
        return found


def _host_ports(container: Container) -> Hashable:
    return tuple([(port.protocol, port.host_ip, port.host_port) for port in container.ports if port.host_port]) or None


def _has_claims(pod: Pod) -> bool:
    return any(v.persistent_volume_claim is not None or v.ephemeral is not None for v in pod.spec.volumes)
