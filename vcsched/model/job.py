"""A job: one PodGroup and its pods (spec 01 §3).

A job exists from its first pod or PodGroup until both are gone. It takes part in scheduling only while it
is attached: it has a PodGroup (or is a group kept for bare pods) and its queue exists. Counts and flags
are changed by `cache.accounting` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vcsched.model import readiness
from vcsched.model.status import PIPELINED, STATUSES

if TYPE_CHECKING:
    from vcsched.kube.objects import NetworkTopology, PodGroup
    from vcsched.model.queue import Queue
    from vcsched.model.subjob import SubJob
    from vcsched.model.task import Counts, Task


class Job:
    """One gang. `row` is its row in the job table; `counts` tasks per status, then best-effort pending ones."""

    __slots__ = (
        "allocated_hypernode",
        "bare",
        "bind_failures",
        "blocked",
        "conditions_sent",
        "contribution",
        "counts",
        "created",
        "fit_errors",
        "gated_count",
        "invalid",
        "key",
        "min_available",
        "min_resources",
        "name",
        "namespace",
        "obj",
        "pending",
        "phase",
        "placeable",
        "policies",
        "preemptable",
        "priority",
        "priority_class",
        "queue",
        "queue_name",
        "refusal",
        "releasing_placed",
        "retry_at",
        "role_counts",
        "role_minimum",
        "row",
        "status_sent",
        "status_write",
        "subjobs",
        "tasks",
        "topology",
        "torn",
        "uid",
        "verdict",
        "waiting_time",
    )  # fmt: skip

    def __init__(self, key: str, row: int) -> None:
        self.key = key
        self.namespace, _, self.name = key.partition("/")
        self.row = row
        self.obj: PodGroup | None = None
        self.bare = False  # a group in the cache only, for pods without PodGroup (design-notes §7 row 28)
        self.uid = ""
        self.created = 0.0
        self.queue: Queue | None = None  # set while attached
        self.queue_name = ""
        self.priority = 0
        self.priority_class = ""
        self.preemptable = False
        self.waiting_time: float | None = None  # seconds
        self.min_available = 0
        self.min_resources: dict[str, float] | None = None  # spec.minResources in columns' units; None: unset
        self.role_minimum: dict[str, int] = {}
        self.policies: tuple[Any, ...] = ()  # spec.subGroupPolicy
        self.topology: NetworkTopology | None = None
        self.phase = ""  # as this scheduler sees it: assumed until confirmed
        self.tasks: dict[str, Task] = {}
        self.pending: dict[str, Task] = {}
        self.subjobs: dict[str, SubJob] = {}
        self.counts: Counts = [0] * (STATUSES + 1)
        self.role_counts: dict[str, Counts] = {}
        self.placeable = 0  # pending tasks without gates that ask for something
        self.gated_count = 0
        self.releasing_placed = 0  # releasing tasks that are on a node
        self.torn = False  # some of its binds went out and the others did not: to be completed before others start
        self.fit_errors: dict[str, Any] = {}  # task uid -> framework fit record, of the last try
        self.refusal: Any = None  # why a queue, a gate or admission holds the job back
        self.invalid: Any = None
        self.verdict: Any = None  # what was last written and said about the job
        self.bind_failures = 0  # in a row
        self.retry_at = 0.0  # unix seconds before which refused binds are not tried again
        self.blocked: Any = None  # certificate of the last failure
        self.contribution: Any = None  # what the job adds to its queue's reserved sums
        self.allocated_hypernode = ""
        self.status_write = 0  # number of the last status write, while it is on its way
        self.status_sent: dict[str, Any] | None = None  # what that write says
        self.conditions_sent: dict[str, Any] = {}  # by type, those that this and earlier ones on their way bring

    def forget_sent(self) -> None:
        """What counts is again the status that the PodGroup shows."""
        self.status_write, self.status_sent, self.conditions_sent = 0, None, {}

    # -- counting predicates (spec 01 §3.5)

    @property
    def attached(self) -> bool:
        return self.queue is not None

    @property
    def pending_phase(self) -> bool:
        return self.phase in ("", "Pending")

    def is_ready(self) -> bool:
        return readiness.counted(self.counts) >= self.min_available

    def is_pipelined(self) -> bool:
        return readiness.counted(self.counts) + readiness.waiting(self.counts) >= self.min_available

    def is_starving(self) -> bool:
        """Best-effort pending tasks do not count here."""
        return readiness.waiting(self.counts) + readiness.ready(self.counts) < self.min_available

    @property
    def already_scheduled(self) -> int:
        """Tasks that were scheduled, those leaving their node included (spec 03 §16.1)."""
        return readiness.scheduled(self.counts) + self.releasing_placed

    # -- roles (spec 01 §3.6)

    @property
    def role_minimum_total(self) -> int:
        return sum(self.role_minimum.values())

    @property
    def roles_enforced(self) -> bool:
        """Role minima are off when minMember is below their sum."""
        return self.min_available >= self.role_minimum_total

    def roles_valid(self) -> bool:
        """Every role with a minimum has enough tasks that are or may become part of the gang."""
        if not self.role_minimum or not self.roles_enforced:
            return True
        return all(
            role in self.role_counts and readiness.valid(self.role_counts[role]) >= minimum
            for role, minimum in self.role_minimum.items()
            if minimum != 0
        )

    def roles_ready(self) -> bool:
        return self._roles_reach(pipelined=False)

    def roles_pipelined(self) -> bool:
        return self._roles_reach(pipelined=True)

    def role_ready_count(self, role: str) -> int:
        """Tasks of a role that hold room, succeeded, or are pending and ask for nothing."""
        counts = self.role_counts.get(role)
        return readiness.counted(counts) if counts else 0

    def _roles_reach(self, *, pipelined: bool) -> bool:
        if not self.role_minimum or not self.roles_enforced:
            return True
        for role, minimum in self.role_minimum.items():
            counts = self.role_counts.get(role)
            have = 0
            if counts is not None:
                have = readiness.counted(counts)
                if pipelined:
                    have += counts[PIPELINED]
            if have < minimum:
                return False
        return True

    # -- sub-groups (spec 01 §3.6, last paragraph)

    def group_minimums(self) -> dict[str, int]:
        """Policy name -> minSubGroups, for policies that have one."""
        return {p.name: p.min_sub_groups for p in self.policies if p.min_sub_groups}

    def groups_reach(self, test: str) -> bool:
        """Whether each policy has enough sub-jobs for which the method named `test` holds."""
        if not self.policies:
            return True
        minimums = self.group_minimums()
        if not minimums:
            return True
        have = dict.fromkeys(minimums, 0)
        for sub in self.subjobs.values():
            if sub.policy in have and (test == "exists" or getattr(sub, test)()):
                have[sub.policy] += 1
        return all(have[policy] >= minimum for policy, minimum in minimums.items())

    def forget_reasons(self) -> None:
        """The job is tried anew: why it waited before is no matter."""
        if self.fit_errors:
            self.fit_errors = {}
        self.refusal = None
        for task in self.pending.values():
            task.attempt = None

    def __repr__(self) -> str:
        return f"Job({self.key})"
