"""What pods and PodGroups say about themselves in annotations, labels and gates.

A value that cannot be read counts as stated with each function; nothing here complains, since these texts
are free and a pod must not fail for a typing error in one. Spec 01 §2.1, §2.5, §3.2, spec 08 §1.2.
"""

from __future__ import annotations

from collections.abc import Mapping

from vcsched.kube.objects import ObjectMeta, Pod, PodSpec
from vcsched.model.gotext import parse_bool, parse_duration, parse_int

GROUP_NAME = "scheduling.k8s.io/group-name"
TASK_SPEC = "volcano.sh/task-spec"
TASK_PRIORITY = "volcano.sh/task-priority"
PREEMPTABLE = "volcano.sh/preemptable"
REVOCABLE_ZONE = "volcano.sh/revocable-zone"
QUEUE_NAME = "scheduling.volcano.sh/queue-name"
QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"
SLA_WAITING_TIME = ("volcano.sh/sla-waiting-time", "sla-waiting-time")

DEFAULT_PRIORITY = 1


def job_key(meta: ObjectMeta) -> str:
    """The "namespace/name" of the PodGroup a pod names, or ""."""
    group = meta.annotations.get(GROUP_NAME)
    return f"{meta.namespace}/{group}" if group else ""


def bare_group_name(meta: ObjectMeta) -> str:
    """The name of the group of a pod that names none: pods with one controlling owner share one."""
    owner = next((owner.uid for owner in meta.owner_references if owner.controller), meta.uid)
    return f"podgroup-{owner}"


def role(meta: ObjectMeta) -> str:
    """The part a pod plays in its gang, such as `worker`, or ""."""
    return meta.annotations.get(TASK_SPEC) or meta.labels.get(TASK_SPEC) or ""


def priority(pod: Pod) -> int:
    """The annotation if it is a 32-bit integer, else the pod's priority, else 1."""
    said = parse_int(pod.metadata.annotations.get(TASK_PRIORITY, ""), 32)
    if said is not None:
        return said
    return DEFAULT_PRIORITY if pod.spec.priority is None else pod.spec.priority


def is_preemptable(meta: ObjectMeta, default: bool) -> bool:
    """Annotation before label; unreadable is false, neither is `default` (pods: true, PodGroups: false)."""
    said = meta.annotations.get(PREEMPTABLE, meta.labels.get(PREEMPTABLE))
    return default if said is None else parse_bool(said) is True


def revocable_zone(meta: ObjectMeta) -> str:
    """`*` for what may run on nodes that can be taken away, else "". Labels do not count."""
    said = meta.annotations.get(REVOCABLE_ZONE)
    if said is not None:
        return "*" if said == "*" else ""
    return "*" if parse_bool(meta.annotations.get(PREEMPTABLE, "")) else ""


def waiting_time_s(annotations: Mapping[str, str]) -> float | None:
    """How long a PodGroup is willing to wait, in seconds; None if nothing readable and above 0 is said."""
    for key in SLA_WAITING_TIME:
        seconds = parse_duration(annotations.get(key, ""))
        if seconds is not None and seconds > 0:
            return seconds
    return None


def gates(spec: PodSpec) -> tuple[str, ...]:
    """The names of the gates that keep a pod from being scheduled."""
    return tuple(gate.name for gate in spec.scheduling_gates)


def has_only_queue_gate(spec: PodSpec) -> bool:
    """Whether nothing but the queue still holds the pod back."""
    return gates(spec) == (QUEUE_GATE,)


def wants_queue_gate(meta: ObjectMeta) -> bool:
    """Whether the pod opted in to being held back by its queue."""
    return meta.annotations.get(QUEUE_GATE) == "true"
