"""Node and Namespace, as far as the scheduler reads them. Heartbeat times are not read."""

# ruff: noqa: RUF012 (msgspec copies the empty dict of a field for each object)

from __future__ import annotations

from vcsched.kube.objects.base import Object, Quantities, Wire, part


class Taint(Wire, frozen=True, kw_only=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Wire, frozen=True, kw_only=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeCondition(Wire, frozen=True, kw_only=True):
    type: str = ""
    status: str = ""


class ContainerImage(Wire, frozen=True, kw_only=True):
    names: tuple[str, ...] = ()
    size_bytes: int = 0


class NodeStatus(Wire, frozen=True, kw_only=True):
    allocatable: Quantities = {}
    capacity: Quantities = {}
    conditions: tuple[NodeCondition, ...] = ()
    images: tuple[ContainerImage, ...] = ()


class Node(Object, frozen=True, kw_only=True):
    spec: NodeSpec = part(NodeSpec)
    status: NodeStatus = part(NodeStatus)


class Namespace(Object, frozen=True, kw_only=True):
    """Only its labels are read."""
