"""Host ports: asked only for pods that want some, of the pods that stand on the node (spec 06 §2.11)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from vcsched.framework.plugin import Ask, Form, Nodes, OneNode
from vcsched.model.node import Node
from vcsched.model.ports import HostPorts, Port, wanted_ports
from vcsched.model.status import UNSCHEDULABLE

REASON = "node(s) didn't have free ports for the requested pod ports"


def applies(ask: Ask) -> bool:
    return bool(wanted(ask.form))


def refuse(ask: Ask, nodes: Nodes, verdict: Any) -> None:
    ports = wanted(ask.form)
    taken = [node is not None and _in_use(node).clashes(ports) for node in nodes.objects()]
    verdict.fail(taken[0] if isinstance(nodes, OneNode) else np.array(taken, dtype=np.bool_), REASON, UNSCHEDULABLE)


def wanted(form: Form) -> tuple[Port, ...]:
    """The host ports that pods of a form want."""
    ports: tuple[Port, ...] = form.compiled(_wanted)
    return ports


def _wanted(form: Form) -> tuple[Port, ...]:
    return wanted_ports(form.spec)


def _in_use(node: Node) -> HostPorts:
    used = HostPorts()
    for ports in _ports_on(node):
        used.add(ports)
    return used


def _ports_on(node: Node) -> Iterable[tuple[Port, ...]]:
    for task in node.tasks.values():
        ports = wanted(task.form)
        if ports and not task.hidden:
            yield ports
