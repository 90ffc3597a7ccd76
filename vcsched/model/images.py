"""Image locality: a node that already has a pod's images starts it sooner.

The size of an image is weighted with the share of nodes that have it, so that the first node to have an
image does not draw all pods to itself. Spec 06 §3.8.
"""

from __future__ import annotations

from collections.abc import Iterable

from vcsched.kube.objects import PodSpec

_MIB = 1024 * 1024
_LEAST = 23 * _MIB
_MOST_PER_CONTAINER = 1000 * _MIB
_MAX_SCORE = 100


def image_name(name: str) -> str:
    """The name nodes know an image by: with the tag `latest` if it has neither tag nor digest."""
    return name if name.rfind(":") > name.rfind("/") else name + ":latest"


def wanted_images(spec: PodSpec) -> tuple[str, ...]:
    """The images of a pod, one for each container that runs one."""
    return tuple(image_name(container.image) for container in (*spec.init_containers, *spec.containers))


def spread_size(size_bytes: int, nodes_having: int, nodes: int) -> int:
    """What an image on a node counts for, in bytes; `nodes` is the number of nodes of the session."""
    return int(size_bytes * (nodes_having / nodes))


def locality_score(spread_sizes: Iterable[int], containers: int) -> int:
    """Score 0..100 of a node that has images of these `spread_size`s, for a pod of so many containers.

    `containers` counts init containers too and is at least 1.
    """
    most = _MOST_PER_CONTAINER * containers
    present = max(_LEAST, min(most, sum(spread_sizes)))
    return _MAX_SCORE * (present - _LEAST) // (most - _LEAST)
