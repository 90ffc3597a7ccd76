"""What a pod asks of a node, summed over its containers.

Init containers run one after another before the rest, sidecars (init containers that restart) from their
start on to the end; a pod needs the peak of that story and is charged it for life. What the kubelet
reports of a resize in progress counts where it is more than the spec. CSI volumes and DRA claims are not
seen here, they need other objects. Spec 01 §2.2, spec 06 §3.3-3.4.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from vcsched.kube.keys import (
    CPU,
    HUGEPAGES_PREFIX,
    MEMORY,
    NVIDIA_GPU,
    POD_RESIZE_PENDING,
    PODS,
    REASON_RESIZE_INFEASIBLE,
)
from vcsched.kube.objects import Container, ContainerStatus, Pod, Quantity
from vcsched.model.algebra import add, add_into, set_max
from vcsched.model.quantity import QuantityError
from vcsched.model.resources import Amounts, amounts, in_order

DEFAULT_CPU = 100.0
DEFAULT_MEMORY = 200.0 * 1024 * 1024
"""What the scorers take a container to use that asks for no cpu (milli) or no memory (bytes)."""

_NO_DEFAULTS: Amounts = {}
_SCORER_DEFAULTS: Amounts = {CPU: DEFAULT_CPU, MEMORY: DEFAULT_MEMORY}


class KubeRequest(NamedTuple):
    """A request in the three resources that Kubernetes balances; `gpu` is `nvidia.com/gpu` in thousandths."""

    cpu_milli: float
    memory_bytes: float
    gpu: float


def pod_request(pod: Pod) -> Amounts:
    """What the pod is charged and needs, with itself as `pods: 1`, in the order of `resources.rank`.

    Raises `QuantityError` naming the field and the value.
    """
    total = _total(pod, _NO_DEFAULTS)
    total[PODS] = total.get(PODS, 0.0) + 1.0
    return {name: total[name] for name in in_order(total)}


def nonzero_request(pod: Pod) -> tuple[float, float]:
    """Cpu (milli) and memory (bytes) for the scorers, which take no container to need nothing.

    A container that does not name cpu counts 100m, one that does not name memory 200 MiB; a written 0
    stays 0. Raises `QuantityError`.
    """
    total = _total(pod, _SCORER_DEFAULTS)
    return total.get(CPU, 0.0), total.get(MEMORY, 0.0)


def kube_request(pod: Pod) -> KubeRequest:
    """What the pod really asks, for balanced allocation. Raises `QuantityError`."""
    total = _total(pod, _NO_DEFAULTS)
    return KubeRequest(total.get(CPU, 0.0), total.get(MEMORY, 0.0), total.get(NVIDIA_GPU, 0.0))


def asked_by(pod: Pod) -> Hashable:
    """All that the functions above read, for pods of one template to agree in; None where the kubelet reports of a
    container something else than what it asks."""
    spec, status = pod.spec, pod.status
    if not (
        _is_as_asked(spec.containers, status.container_statuses)
        and _is_as_asked(spec.init_containers, status.init_container_statuses)
    ):
        return None
    return (
        tuple([tuple(container.resources.requests.items()) for container in spec.containers]),
        tuple([(is_restartable(c), tuple(c.resources.requests.items())) for c in spec.init_containers])
        if spec.init_containers
        else None,
        tuple(spec.overhead.items()) if spec.overhead else None,
        tuple(spec.resources.requests.items()) if spec.resources is not None else None,
    )


def _is_as_asked(containers: Iterable[Container], statuses: tuple[ContainerStatus, ...]) -> bool:
    if not statuses:
        return True
    reported = {status.name: status for status in statuses if status.resources is not None}
    return not reported or all(
        _holds_what_it_asks(reported[container.name], container)
        for container in containers
        if container.name in reported
    )


def _holds_what_it_asks(state: ContainerStatus, container: Container) -> bool:
    """Whether a report says nothing that the spec does not."""
    asked = container.resources.requests
    held = state.resources.requests if state.resources is not None else asked
    return held == asked and state.allocated_resources in ({}, asked)


def is_restartable(container: Container) -> bool:
    """Whether an init container is a sidecar, which keeps running beside the containers."""
    return container.restart_policy == "Always"


def _total(pod: Pod, defaults: Amounts) -> Amounts:
    spec, status = pod.spec, pod.status
    with_spec = not resize_is_infeasible(pod)
    total: Amounts = {}
    reported = _by_name(status.container_statuses)
    for container in spec.containers:
        add_into(total, _running(container, reported, with_spec, defaults))
    if spec.init_containers:
        sidecars: Amounts = {}
        peak: Amounts = {}
        reported = _by_name(status.init_container_statuses)
        for container in spec.init_containers:
            if is_restartable(container):
                own = _running(container, reported, with_spec, defaults)
                add_into(total, own)
                add_into(sidecars, own)
                peak = set_max(peak, sidecars)
            else:
                peak = set_max(peak, add(_asked(container, defaults), sidecars))
        total = set_max(total, peak)
    if spec.resources is not None and spec.resources.requests:
        total.update(_pod_level(spec.resources.requests))
    if spec.overhead:
        add_into(total, _read(spec.overhead, "spec.overhead"))
    return total


def _running(
    container: Container, reported: Mapping[str, ContainerStatus], with_spec: bool, defaults: Amounts
) -> Amounts:
    """What a running container takes: the most of what it asks and what the kubelet says it has."""
    state = reported.get(container.name)
    if state is None or state.resources is None or _holds_what_it_asks(state, container):
        return _asked(container, defaults)
    where = f"status of container {container.name}: "
    held = set_max(
        _read(state.resources.requests, where + "resources.requests"),
        _read(state.allocated_resources, where + "allocatedResources"),
    )
    if with_spec:
        held = set_max(held, _asked(container, _NO_DEFAULTS))
    return {**defaults, **held}


def _asked(container: Container, defaults: Amounts) -> Amounts:
    requests = container.resources.requests
    asked = _read(requests, f"container {container.name}: resources.requests")
    return {**defaults, **asked} if defaults else asked


def _pod_level(requests: Mapping[str, Quantity]) -> Amounts:
    supported = {
        name: value for name, value in requests.items() if name in (CPU, MEMORY) or name.startswith(HUGEPAGES_PREFIX)
    }
    return _read(supported, "spec.resources.requests")


def resize_is_infeasible(pod: Pod) -> bool:
    """Whether the kubelet has said that a resize can never be done: then the spec does not count."""
    for condition in pod.status.conditions:
        if condition.type == POD_RESIZE_PENDING:
            return condition.reason == REASON_RESIZE_INFEASIBLE
    return False


def _by_name(statuses: Iterable[ContainerStatus]) -> dict[str, ContainerStatus]:
    return {status.name: status for status in statuses}


def _read(listed: Mapping[str, Quantity], where: str) -> Amounts:
    try:
        return amounts(listed)
    except QuantityError as error:
        raise QuantityError(f"{where}.{error}") from None
