"""What came out of a case, whoever ran it: the neutral form in which oracle and product are compared."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

GROUP_ANNOTATION = "scheduling.k8s.io/group-name"


@dataclass
class Outcome:
    """Facts under the names of the case format (shared/cases/README.md), keys in snake case.

    `placements` repeats what binds and pipelined tasks say, by pod. It and `why_pending` (pod key -> text), `ties`,
    `warnings` and `notes` take no part in equality.
    """

    binds: dict[str, str] = field(default_factory=dict)  # pod key -> node
    evicted: list[str] = field(default_factory=list)  # pod keys, sorted, one entry an eviction
    pipelined: dict[str, list[str]] = field(default_factory=dict)  # job key -> nodes of its pipelined tasks
    phases: dict[str, str] = field(default_factory=dict)  # job key -> phase before the plugins' close hooks
    task_counts: dict[str, dict[str, int]] = field(default_factory=dict)  # job key -> status -> tasks, before close
    binds_per_job: dict[str, int] = field(default_factory=dict)
    binds_per_hyper_node: list[int] = field(default_factory=list)
    allocated_hyper_node: dict[str, str] = field(default_factory=dict)  # job key -> HyperNode
    scores: dict[str, dict[str, float]] | None = None  # probe: pod key -> node -> score
    unfit: dict[str, dict[str, list[Any]]] | None = (
        None  # probe: pod key -> node -> [[status, reason], …] or ["resources"]
    )
    error: str = ""  # the traceback, if it ended with one
    placements: dict[str, str] = field(default_factory=dict, compare=False)  # pod key -> node, bound or promised
    why_pending: dict[str, str] = field(default_factory=dict, compare=False)
    ties: int = field(default=0, compare=False)  # free choices of a node that were made
    warnings: list[str] = field(default_factory=list, compare=False)
    notes: list[str] = field(default_factory=list, compare=False)


def binds_per_job(objects: Iterable[Mapping[str, Any]], binds: Iterable[str]) -> dict[str, int]:
    """Binds counted by the job that the pod's annotation names."""
    jobs = {}
    for obj in objects:
        if obj["kind"] == "Pod":
            metadata = obj["metadata"]
            namespace, group = (
                metadata.get("namespace", ""),
                (metadata.get("annotations") or {}).get(GROUP_ANNOTATION),
            )
            jobs[f"{namespace}/{metadata['name']}"] = f"{namespace}/{group}" if group else ""
    return dict(collections.Counter(jobs[pod] for pod in binds))
