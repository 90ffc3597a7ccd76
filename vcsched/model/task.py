"""A task: one pod as the scheduler sees it (spec 01 §2).

Status, node and flags are changed by `cache.accounting` only, because every sum depends on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from vcsched.model.status import PENDING

if TYPE_CHECKING:
    from vcsched.kube.objects import Pod
    from vcsched.model.job import Job
    from vcsched.model.node import Node
    from vcsched.model.subjob import SubJob

Counts = list[int]  # tasks per status, then best-effort pending tasks


@dataclass(frozen=True, slots=True, eq=False)
class Request:
    """What a pod asks for, interned. Values are integral floats in the unit of their column.

    `items` holds (column, value) for every key of the request, also keys whose value is 0, with cpu and
    memory first; `best_effort` is true when nothing but pods is asked.
    """

    items: tuple[tuple[int, float], ...]
    by_name: dict[str, float]
    best_effort: bool
    nonzero_cpu: float  # milli, with the scorers' default for containers that ask nothing
    nonzero_memory: float  # bytes, same

    def get(self, name: str) -> float:
        """The amount of a resource; 0 when it is not asked for."""
        return self.by_name.get(name, 0.0)


class Attempt(NamedTuple):
    """What an undone transaction had made of a task; pod conditions are worded from it (spec 01 §2.7). It stands
    until the job is tried again: a job that is skipped is so with its old reasons."""

    status: int
    node: Node | None
    after_eviction: bool


class Task:
    """One pod. `form` is what it asks (see `cache.shapes`); `node` is set while it occupies or is promised one."""

    __slots__ = (
        "after_eviction",
        "assumed",
        "attempt",
        "best_effort",
        "created",
        "form",
        "gated",
        "gates",
        "hidden",
        "hypernode",
        "index",
        "job",
        "job_key",
        "key",
        "marked",
        "match",
        "match_version",
        "name",
        "namespace",
        "node",
        "node_name",
        "op",
        "pod",
        "preemptable",
        "priority",
        "request",
        "role",
        "shape",
        "status",
        "subjob",
        "tallies",
        "uid",
        "write",
    )

    def __init__(self, pod: Pod, request: Request, form: Any) -> None:
        meta = pod.metadata
        self.pod = pod
        self.uid: str = meta.uid
        self.name: str = meta.name
        self.namespace: str = meta.namespace
        self.key: str = f"{meta.namespace}/{meta.name}"
        self.created: float = meta.creation_timestamp.timestamp() if meta.creation_timestamp else 0.0
        self.request = request
        self.best_effort = request.best_effort
        self.form = form
        self.shape: Any = None
        self.match: Any = None
        self.match_version = -1
        self.status = PENDING
        self.node: Node | None = None
        self.node_name: str = pod.spec.node_name  # also when that node is not known yet
        self.hidden = False  # evicted in this session: out of the view of ports, affinity, spread, pod count
        self.after_eviction = False  # pipelined onto room that evictions make
        self.hypernode = ""
        self.attempt: Attempt | None = None
        self.job: Job | None = None
        self.job_key = ""  # "" for a foreign pod: it only occupies its node
        self.subjob: SubJob | None = None
        self.tallies: tuple[Counts, ...] = ()
        self.role = ""
        self.priority = 1
        self.preemptable = True
        self.gated = False
        self.gates: tuple[str, ...] = ()
        self.index: int | None = None  # number after the last "-" of the pod's name, if it has three parts
        self.op: Any = None  # the standing operation of the running session
        self.write = 0  # number of the bind or eviction in flight
        self.assumed = False  # status is ours, not yet the API server's
        self.marked: Any = None  # what the pod was last told about its waiting

    def __repr__(self) -> str:
        return f"Task({self.key})"
