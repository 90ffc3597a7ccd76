"""The quality of service class of a pod, by the rule of Kubernetes: what it asks and what it may use at most."""

from __future__ import annotations

from enum import IntEnum

from vcsched.kube.keys import CPU, MEMORY
from vcsched.kube.objects import Pod
from vcsched.model.resources import Amounts, amounts


class Qos(IntEnum):
    """In the order in which pods lose their node: those that were promised nothing first."""

    BEST_EFFORT = 0
    BURSTABLE = 1
    GUARANTEED = 2


def qos(pod: Pod) -> Qos:
    """Guaranteed: every container has limits of cpu and memory and asks for just that; best effort: none asks
    for anything. Raises `QuantityError`."""
    asked = guaranteed = False
    for index, container in enumerate((*pod.spec.init_containers, *pod.spec.containers)):
        requests, limits = _both(amounts(container.resources.requests)), _both(amounts(container.resources.limits))
        asked = asked or bool(requests or limits)
        whole = len(limits) == 2 and {**limits, **requests} == limits
        guaranteed = whole and (guaranteed or index == 0)
    if not asked:
        return Qos.BEST_EFFORT
    return Qos.GUARANTEED if guaranteed else Qos.BURSTABLE


def _both(listed: Amounts) -> Amounts:
    """Cpu and memory, if there is any."""
    return {name: listed[name] for name in (CPU, MEMORY) if listed.get(name)}
