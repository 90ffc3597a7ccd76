"""Predicates: whether a pod may run on a node, by the rules of Kubernetes (spec 06 §2).

Filters are asked in the order in which they are registered here. Reasons pile up on a node until one of
them cannot be helped by evicting pods. A pod about which something is wrong whatever the node is told so
once, before any node is asked; so is one that needs what is not built yet: volume and resource claims.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.framework.plugin import Fit, Form, Plugin
from vcsched.plugins.predicates import node_affinity, pod_number, ports, spread, taints, unschedulable
from vcsched.plugins.predicates.pod_affinity import PodAffinityFilter
from vcsched.plugins.predicates.spread import SpreadFilter

if TYPE_CHECKING:
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session
    from vcsched.model.task import Task


class Predicates(Plugin):
    """`predicate.<Filter>Enable: false` leaves a filter out.

    `predicate.CacheEnable` has nothing to do: answers are always kept by shape, with their reasons
    (spec 06 §2.4, §11 no. 7).
    """

    name = "predicates"

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self._node_affinity = args.bool("predicate.NodeAffinityEnable", True)
        self._taints = args.bool("predicate.TaintTolerationEnable", True)
        self._ports = args.bool("predicate.NodePortsEnable", True)
        pod_affinity = args.bool("predicate.PodAffinityEnable", True)
        spreading = args.bool("predicate.PodTopologySpreadEnable", True)
        for accepted in ACCEPTED:
            args.get(accepted)
        self._pod_affinity = PodAffinityFilter() if pod_affinity else None
        self._spread = SpreadFilter() if spreading else None
        self._problems: dict[Form, Fit | None] = {}

    def open(self, ssn: Session) -> None:
        ssn.pre_predicate.add(self, self.problem)
        add = ssn.predicate.add
        add(self, vector=pod_number.refuse, reads="room")
        add(self, vector=unschedulable.refuse, reads="node", applies=unschedulable.applies)
        if self._node_affinity:
            add(self, vector=node_affinity.refuse, reads="node", applies=node_affinity.applies)
        if self._taints:
            add(self, vector=taints.refuse, reads="node")
        if self._ports:
            add(self, vector=ports.refuse, reads="room", applies=ports.applies)
        if self._pod_affinity is not None:
            self._pod_affinity.register(self, ssn)
            # the columns follow a dry run by themselves: nothing is to be done when a task is taken off or put back
            ssn.simulate_add_task.add(self, _nothing)
            ssn.simulate_remove_task.add(self, _nothing)
            ssn.simulate_predicate.add(self, self._pod_affinity.simulated)
        if self._spread is not None:
            self._spread.register(self, ssn)

    def problem(self, task: Task) -> Fit | None:
        """What stands against the pod on every node; a question about its form alone."""
        form: Form = task.form
        try:
            return self._problems[form]
        except KeyError:
            found = self._problems[form] = self._problem_of(form)
            return found

    def _problem_of(self, form: Form) -> Fit | None:
        if form.needs_unbuilt:
            return Fit.error(form.needs_unbuilt)
        if self._node_affinity and (message := node_affinity.problem(form)):
            return _failed("NodeAffinity", message)
        if self._pod_affinity is not None and (message := self._pod_affinity.problem(form)):
            return _failed("InterPodAffinity", message)
        if self._spread is not None and (message := spread.problem(form)):
            return _failed("PodTopologySpread", message)
        return None


ACCEPTED = (
    "predicate.CacheEnable",
    "predicate.NodeVolumeLimitsEnable",
    "predicate.VolumeZoneEnable",
    "predicate.VolumeBindingEnable",
    "predicate.DynamicResourceAllocationEnable",
    "volumebinding.bindTimeoutSeconds",
    "volumebinding.weight",
    "volumebinding.shape",
    "dynamicresources.filterTimeoutSeconds",
)
"""Arguments without an effect here: pods with claims are not placed at all. Known, so nobody is warned."""


def _nothing(*_: object) -> None:
    """A simulation hook with nothing to do."""


def _failed(name: str, message: str) -> Fit:
    return Fit.error(f"plugin {name} pre-predicates failed {message}")
