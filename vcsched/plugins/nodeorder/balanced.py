"""BalancedAllocation: nodes whose resources fill up evenly (spec 06 §3.4).

As Kubernetes 1.36 has it: what counts is whether the pod makes the balance better or worse, half a point
for a point; a pod that changes nothing gets 75 everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vcsched.kube.keys import CPU, MEMORY, NVIDIA_GPU

if TYPE_CHECKING:
    from vcsched.columns.maths import Maths
    from vcsched.framework.plugin import Ask, Nodes, Plugin
    from vcsched.framework.session import Session

MAX_SCORE = 100.0


class Balanced:
    def __init__(self, weight: int) -> None:
        self.weight = weight

    def register(self, plugin: Plugin, ssn: Session) -> None:
        ssn.batch_node_order.add(plugin, vector=self.score, reads="room", applies=asks_something)

    def score(self, ask: Ask, nodes: Nodes) -> Any:
        """0 to 100, times the weight."""
        maths = nodes.maths
        names = (CPU, MEMORY, NVIDIA_GPU) if ask.request.get(NVIDIA_GPU) else (CPU, MEMORY)
        parts = [_filled(ask, nodes, name) for name in names]
        has = [has for _, _, has in parts]
        before = balance(maths, [before for before, _, _ in parts], has)
        after = balance(maths, [after for _, after, _ in parts], has)
        gain = MAX_SCORE / 2 + after - before
        return (MAX_SCORE / 2 + maths.trunc(gain / 2.0)) * self.weight


def asks_something(ask: Ask) -> bool:
    """Whether the pod asks for any of the balanced resources."""
    request = ask.request
    return any(request.get(name) for name in (CPU, MEMORY, NVIDIA_GPU))


def balance(maths: Maths, filled: list[Any], has: list[Any]) -> Any:
    """How evenly a node is filled, 0 to 100: 100 less the standard deviation of the filled parts.

    These are of cpu, memory and, where the pod asks for them, GPUs. A resource that the node does not have does
    not count.
    """
    cpu, memory = filled[:2]
    has_cpu, has_memory = has[:2]
    both = maths.both(has_cpu, has_memory)
    of_two = maths.where(both, abs((cpu - memory) / 2.0), 0.0)
    if len(filled) == 2:
        return _score(maths, of_two)
    gpu, has_gpu = filled[2], has[2]
    mean = (cpu + memory + gpu) / 3.0
    off_cpu, off_memory, off_gpu = cpu - mean, memory - mean, gpu - mean
    of_three = maths.sqrt((off_cpu * off_cpu + off_memory * off_memory + off_gpu * off_gpu) / 3.0)
    with_gpu = maths.where(
        both,
        of_three,
        maths.where(has_cpu, abs((cpu - gpu) / 2.0), maths.where(has_memory, abs((memory - gpu) / 2.0), 0.0)),
    )
    return _score(maths, maths.where(has_gpu, with_gpu, of_two))


def _filled(ask: Ask, nodes: Nodes, name: str) -> tuple[Any, Any, Any]:
    """The filled part of a resource without and with the pod, at most 1, and whether the node has it."""
    maths, whole, used = nodes.maths, nodes.view_alloc[name], nodes.view_used[name]
    before = maths.minimum(maths.div(used, whole), 1.0)
    after = maths.minimum(maths.div(used + ask.request.get(name), whole), 1.0)
    return before, after, whole != 0


def _score(maths: Maths, deviation: Any) -> Any:
    return maths.trunc((1.0 - deviation) * MAX_SCORE)
