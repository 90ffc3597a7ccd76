"""What pods and PodGroups say about themselves in annotations, labels, gates and names.

A value that cannot be read counts as stated with each function; nothing here complains, since these texts
are free and a pod must not fail for a typing error in one. Functions named `group_…` read a PodGroup, the
others a pod. Spec 01 §2.1, §2.5, §3.2, spec 03 §11, spec 08 §1.2.
"""

from __future__ import annotations

from vcsched.kube.keys import (
    GROUP_NAME,
    PREEMPTABLE,
    QUEUE_ALLOCATION_GATE,
    REVOCABLE_ZONE,
    SLA_WAITING_TIME,
    SLA_WAITING_TIME_SHORT,
    TASK_PRIORITY,
    TASK_SPEC,
)
from vcsched.kube.objects import ObjectMeta, Pod
from vcsched.model.gotext import parse_bool, parse_duration, parse_int

DEFAULT_PRIORITY = 1

# ---------------------------------------------------------------- membership


def job_key(pod: Pod) -> str:
    """The "namespace/name" of the PodGroup a pod names, or ""."""
    group = pod.metadata.annotations.get(GROUP_NAME)
    return f"{pod.metadata.namespace}/{group}" if group else ""


def bare_group_name(pod: Pod) -> str:
    """The name of the group of a pod that names none: pods with one controlling owner share one."""
    meta = pod.metadata
    owner = next((owner.uid for owner in meta.owner_references if owner.controller), meta.uid)
    return f"podgroup-{owner}"


def role(pod: Pod) -> str:
    """The part a pod plays in its gang, such as `worker`, or ""."""
    meta = pod.metadata
    return meta.annotations.get(TASK_SPEC) or meta.labels.get(TASK_SPEC) or ""


def name_index(name: str) -> int | None:
    """The number of a pod among its like: what `llama-worker-7` ends with; None for other names."""
    parts = name.split("-")
    return parse_int(parts[-1]) if len(parts) >= 3 else None


# ---------------------------------------------------------------- priority and eviction


def task_priority(pod: Pod) -> int:
    """The annotation if it is a 32-bit integer, else the pod's priority, else 1."""
    text = pod.metadata.annotations.get(TASK_PRIORITY)
    said = parse_int(text, 32) if text else None
    if said is not None:
        return said
    return DEFAULT_PRIORITY if pod.spec.priority is None else pod.spec.priority


def preemptable(pod: Pod) -> bool:
    """Whether the pod may be a victim: annotation before label, unreadable is no, neither is yes."""
    return _preemptable(pod.metadata, True)


def group_preemptable(meta: ObjectMeta) -> bool:
    """As `preemptable` for a PodGroup, but neither is no."""
    return _preemptable(meta, False)


def revocable_zone(meta: ObjectMeta) -> str:
    """`*` for a pod or PodGroup that may use nodes which can be taken away, else "". Labels do not count."""
    said = meta.annotations.get(REVOCABLE_ZONE)
    if said is not None:
        return "*" if said == "*" else ""
    return "*" if parse_bool(meta.annotations.get(PREEMPTABLE, "")) else ""


def _preemptable(meta: ObjectMeta, default: bool) -> bool:
    said = meta.annotations.get(PREEMPTABLE, meta.labels.get(PREEMPTABLE))
    return default if said is None else parse_bool(said) is True


# ---------------------------------------------------------------- waiting


def group_waiting_time_s(meta: ObjectMeta) -> float | None:
    """How long a PodGroup is willing to wait, in seconds; None if nothing readable and above 0 is said."""
    for key in (SLA_WAITING_TIME, SLA_WAITING_TIME_SHORT):
        text = meta.annotations.get(key)
        seconds = parse_duration(text) if text else None
        if seconds is not None and seconds > 0:
            return seconds
    return None


def gates(pod: Pod) -> tuple[str, ...]:
    """The names of the gates that keep a pod from being scheduled."""
    asked = pod.spec.scheduling_gates
    return tuple([gate.name for gate in asked]) if asked else ()


def has_only_queue_gate(pod: Pod) -> bool:
    """Whether nothing but the queue still holds the pod back."""
    return gates(pod) == (QUEUE_ALLOCATION_GATE,)


def wants_queue_gate(pod: Pod) -> bool:
    """Whether the pod opted in to being held back by its queue."""
    return pod.metadata.annotations.get(QUEUE_ALLOCATION_GATE) == "true"
