"""Nodes and tasks in the dump (spec 02 §19, 01 §2 and §5)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from vcsched.cache.dumper.values import Resources, annotations_of, readable, wire
from vcsched.cache.handlers.nodes import oversubscription_of
from vcsched.kube.keys import NUMA_TOPOLOGY_POLICY, OFFLINE_JOB_EVICTING, OVERSUBSCRIPTION, REVOCABLE_ZONE
from vcsched.model import podflags
from vcsched.model.gotext import parse_bool
from vcsched.model.status import DUMP_CODE

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.model.node import Node
    from vcsched.model.task import Task

READY = 1


def count_images(picture: Picture) -> Counter[str]:
    """Image name -> number of nodes that have it."""
    return Counter(
        name
        for node in picture.nodes_by_name.values()
        for name in {name for image in node.obj.status.images for name in image.names}
    )


def node_document(picture: Picture, node: Node, resources: Resources, images: Counter[str]) -> dict[str, Any]:
    """A node with its sums and tasks."""
    obj, table, row = node.obj, picture.nodes, node.row
    more = {name: amount for name, amount in oversubscription_of(obj).items() if amount}
    capacity = readable(obj.status.capacity)
    return {
        "Name": node.name,
        "Node": wire(obj),
        "State": {"Phase": READY, "Reason": ""},
        "Releasing": resources.row(table.releasing, row),
        "Pipelined": resources.row(table.pipelined, row),
        "Idle": resources.row(table.idle, row),
        "Used": resources.row(table.used, row),
        "Allocatable": resources.row(table.alloc, row),
        "Capacity": resources.of({**capacity, **{name: capacity.get(name, 0.0) + a for name, a in more.items()}}),
        "ResourceUsage": {"MetricsTime": "0001-01-01T00:00:00Z", "CPUUsageAvg": {}, "MEMUsageAvg": {}},
        "Tasks": {task.key: task_document(task, resources) for task in node.tasks.values()},
        "NumaInfo": None,
        "UnassignedNumaPods": {},
        "NumaSchedulerInfo": None,
        "RevocableZone": node.labels.get(REVOCABLE_ZONE, ""),
        "Others": {},
        "OversubscriptionNode": parse_bool(node.labels.get(OVERSUBSCRIPTION, "")) is True,
        "OfflineJobEvicting": parse_bool(obj.metadata.annotations.get(OFFLINE_JOB_EVICTING, "")) is True,
        "OversubscriptionResource": resources.of(more),
        "ImageStates": {
            name: {"Size": image.size_bytes, "NumNodes": images[name]}
            for image in obj.status.images
            for name in image.names
        },
        "Generation": 0,
        "BindGeneration": 0,
    }


def task_document(task: Task, resources: Resources) -> dict[str, Any]:
    """One pod, with the status that this scheduler has given it."""
    pod = task.pod
    asked = resources.of(task.request.by_name)
    return {
        "UID": task.uid,
        "Job": task.job_key,
        "Name": task.name,
        "Namespace": task.namespace,
        "TaskRole": task.role,
        "Resreq": asked,
        "InitResreq": asked,
        "DRAResreq": None,
        "ResourceClaimKeys": None,
        "ResourceClaimDRAResreq": None,
        "NodeName": task.node.name if task.node is not None else task.node_name,
        "EvictionOccurred": task.after_eviction,
        "JobAllocatedHyperNode": task.hypernode,
        "Status": DUMP_CODE[task.status],
        "LastTransaction": None,
        "Priority": task.priority,
        "VolumeReady": False,
        "Preemptable": task.preemptable,
        "BestEffort": task.best_effort,
        "HasRestartableInitContainer": any(c.restart_policy == "Always" for c in pod.spec.init_containers),
        "SchGated": task.gated,
        "RevocableZone": podflags.revocable_zone(pod.metadata),
        "NumaInfo": {"Policy": pod.metadata.annotations.get(NUMA_TOPOLOGY_POLICY, ""), "ResMap": None},
        "Pod": wire(pod),
        "PodAnnotations": annotations_of(pod.metadata),
        "CustomBindErrHandlerSucceeded": False,
    }
