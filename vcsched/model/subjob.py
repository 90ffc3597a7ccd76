"""A sub-job: a sub-group of a job's tasks with a minimum of its own (spec 01 §4).

A job without `subGroupPolicy` has one, the default one, whose key is the job's key and whose minimum is
the job's. Tasks that match no policy belong to the default sub-job too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.model import readiness
from vcsched.model.status import STATUSES

if TYPE_CHECKING:
    from vcsched.kube.objects import NetworkTopology
    from vcsched.model.job import Job
    from vcsched.model.task import Task


class SubJob:
    """Tasks by uid, counts per status; `policy` is "" for the default sub-job."""

    __slots__ = (
        "allocated_hypernode", "counts", "job", "key", "match_index",
        "min_available", "nominated_hypernode", "policy", "tasks", "topology",
    )  # fmt: skip

    def __init__(
        self,
        job: Job,
        key: str,
        policy: str,
        min_available: int,
        match_index: int,
        topology: NetworkTopology | None,
    ) -> None:
        self.job = job
        self.key = key
        self.policy = policy
        self.min_available = min_available
        self.match_index = match_index
        self.topology = topology
        self.tasks: dict[str, Task] = {}
        self.counts = [0] * (STATUSES + 1)
        self.allocated_hypernode = ""
        self.nominated_hypernode = ""

    @property
    def priority(self) -> int:
        """The highest priority of its tasks, at least 0 (spec 01 §4)."""
        return max(0, max((t.priority for t in self.tasks.values()), default=0))

    def is_ready(self) -> bool:
        return readiness.counted(self.counts) >= self.min_available

    def is_pipelined(self) -> bool:
        return readiness.counted(self.counts) + readiness.waiting(self.counts) >= self.min_available
