"""A task: one pod as the scheduler sees it (spec 01 §2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .quantity import boolean, integer, milli, whole
from .resources import Resources, from_list, maximum, plus
from .selectors import Object, annotation, annotation_or_label, created, label, labels_of

if TYPE_CHECKING:
    from .job import SubJob

# spec 05 §1.1, 01 §3.5
ALLOCATED = ("Allocated", "Binding", "Bound", "Running")
READY = (*ALLOCATED, "Succeeded")
SCHEDULED = ("Bound", "Running", "Succeeded", "Failed")
VALID = (*READY, "Pipelined", "Pending")

QUEUE_GATE = "scheduling.volcano.sh/queue-allocation-gate"

# what kube-scheduler's scorers count for a container without a request (spec 06 §3.3)
DEFAULT_MILLI_CPU = 100.0
DEFAULT_MEMORY = 200.0 * 1024 * 1024


class Task:
    """One pod: its request, its place in a job, its status now."""

    def __init__(self, pod: Object, arrival: int) -> None:
        metadata, spec = pod["metadata"], pod["spec"]
        self.pod, self.arrival = pod, arrival
        self.namespace, self.name = metadata.get("namespace", ""), metadata["name"]
        self.key = f"{self.namespace}/{self.name}"
        self.uid = metadata.get("uid") or self.key
        self.labels = labels_of(pod)
        self.created = created(pod)
        group = annotation(pod, "scheduling.k8s.io/group-name")
        self.job_key = f"{self.namespace}/{group}" if group else ""
        self.role = annotation(pod, "volcano.sh/task-spec") or label(pod, "volcano.sh/task-spec") or ""
        self.request = requested(spec)
        self.nonzero_request = nonzero_requested(spec)
        self.best_effort = self.request.is_empty()
        self.priority = priority_of(pod)
        self.pod_priority = spec.get("priority", 0)
        preemptable = annotation_or_label(pod, "volcano.sh/preemptable")
        self.preemptable = True if preemptable is None else bool(boolean(preemptable))
        self.gates = [gate["name"] for gate in spec.get("schedulingGates") or []]
        self.node = spec.get("nodeName") or ""
        self.terminating = bool(metadata.get("deletionTimestamp"))
        self.status = status_of(pod)
        self.nominated_node = (pod.get("status") or {}).get("nominatedNodeName") or ""
        self.sub_job: SubJob | None = None
        self.claims: dict[str, dict[str, int]] = {}  # claim -> device class -> devices (spec 05 §10.2)
        # state of the upstream filters in this cycle (spec 06 §2.3)
        self.skipped_filters: set[str] = set()
        self.filter_state: dict[str, Any] = {}
        self.topology_hint = ""  # HyperNode near which it should go (spec 07 §4.6)
        self.being_unevicted = False

    def __repr__(self) -> str:
        return f"<{self.key} {self.status} {self.node}>"

    @property
    def pod_spec(self) -> Object:
        spec: Object = self.pod["spec"]
        return spec

    @property
    def pod_status(self) -> Object:
        status: Object = self.pod.get("status") or {}
        return status

    @property
    def never_preempts(self) -> bool:
        return bool(self.pod_spec.get("preemptionPolicy") == "Never")


def requested(spec: Object) -> Resources:
    """Containers and sidecars, or the peak of the init phase, plus overhead (spec 01 §2.2)."""
    steady, sidecars, peak = Resources(), Resources(), Resources()
    for container in spec.get("containers") or []:
        steady.add(requests_of(container))
    for container in spec.get("initContainers") or []:
        request = requests_of(container)
        if container.get("restartPolicy") == "Always":
            steady.add(request)
            sidecars.add(request)
            moment = sidecars.clone()
        else:
            moment = plus(request, sidecars)
        peak = maximum(peak, moment)
    if spec.get("initContainers"):
        steady = maximum(steady, peak)
    steady.add(Resources(0, 0, {"pods": 1.0}))
    return steady.add(from_list(spec.get("overhead")))


def requests_of(container: Object) -> Resources:
    return from_list((container.get("resources") or {}).get("requests"))


def limits_of(spec: Object) -> Resources:
    """Sum of the containers' limits (spec 01 §2.3)."""
    total = Resources()
    for container in spec.get("containers") or []:
        total.add(from_list((container.get("resources") or {}).get("limits")))
    return total


def nonzero_requested(spec: Object) -> tuple[int, int]:
    """(milli-CPU, bytes) with defaults for containers that ask for nothing (spec 06 §3.3)."""
    cpu = memory = 0.0
    for container in spec.get("containers") or []:
        requests = (container.get("resources") or {}).get("requests") or {}
        cpu += milli(requests["cpu"]) if "cpu" in requests else DEFAULT_MILLI_CPU
        memory += whole(requests["memory"]) if "memory" in requests else DEFAULT_MEMORY
    return int(cpu), int(memory)


def priority_of(pod: Object) -> int:
    """The pod's priority, 1 if unset, or the task-priority annotation (spec 01 §2.5)."""
    override = integer(annotation(pod, "volcano.sh/task-priority"))
    if override is not None and -(2**31) <= override < 2**31:
        return override
    return int(pod["spec"].get("priority", 1))


def status_of(pod: Object) -> str:
    """Task status from the pod (spec 01 §2.6)."""
    phase: str = (pod.get("status") or {}).get("phase", "")
    if phase in ("Succeeded", "Failed"):
        return phase
    if phase not in ("Pending", "Running"):
        return "Unknown"
    if pod["metadata"].get("deletionTimestamp"):
        return "Releasing"
    if phase == "Running":
        return "Running"
    return "Bound" if pod["spec"].get("nodeName") else "Pending"
