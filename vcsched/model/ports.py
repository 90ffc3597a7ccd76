"""Host ports: two pods that ask for the same port cannot share a node.

Kubernetes compares protocol, address and number, and the address 0.0.0.0 stands for every address.
Containers and sidecars ask; init containers that end do not. Spec 06 §2.11.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from vcsched.kube.objects import PodSpec
from vcsched.model.requests import is_restartable

ANY = "0.0.0.0"


class Port(NamedTuple):
    """One host port as a pod asks for it; `protocol` and `address` are never empty."""

    protocol: str
    address: str
    number: int


def clash(a: Port, b: Port) -> bool:
    """Whether two pods with these ports exclude each other on a node."""
    same = a.protocol == b.protocol and a.number == b.number
    return same and (a.address == b.address or ANY in (a.address, b.address))


def wanted_ports(spec: PodSpec) -> tuple[Port, ...]:
    """The host ports a pod asks for, sorted, without doubles."""
    sidecars = (container for container in spec.init_containers if is_restartable(container))
    return tuple(
        sorted(
            {
                Port(port.protocol or "TCP", port.host_ip or ANY, port.host_port)
                for container in (*spec.containers, *sidecars)
                for port in container.ports
                if port.host_port > 0
            }
        )
    )


class HostPorts:
    """The host ports in use on one node, counted by pod, so that adding and removing undo each other."""

    __slots__ = ("_users",)

    def __init__(self) -> None:
        self._users: dict[tuple[str, int], dict[str, int]] = {}

    def add(self, ports: Iterable[Port]) -> None:
        """A pod with these ports has come."""
        for port in ports:
            users = self._users.setdefault((port.protocol, port.number), {})
            users[port.address] = users.get(port.address, 0) + 1

    def remove(self, ports: Iterable[Port]) -> None:
        """A pod with these ports, added before, is gone."""
        for port in ports:
            users = self._users[port.protocol, port.number]
            users[port.address] -= 1
            if not users[port.address]:
                del users[port.address]
            if not users:
                del self._users[port.protocol, port.number]

    def clashes(self, ports: Iterable[Port]) -> bool:
        """Whether a pod with these ports cannot come."""
        for port in ports:
            users = self._users.get((port.protocol, port.number))
            if users and (port.address == ANY or ANY in users or port.address in users):
                return True
        return False

    def __bool__(self) -> bool:
        return bool(self._users)
