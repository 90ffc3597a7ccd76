"""What proportion and capacity share: the account of each queue (spec 05 §1.2, §7.1, §10)."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.job import Job
from tests.oracle.quantity import whole
from tests.oracle.queue import Queue
from tests.oracle.resources import LARGEST_FLOAT, Resources, minimum_absent_unlimited, positive_part, total_of
from tests.oracle.task import ALLOCATED, Task

from .base import Plugin

DEVICE_CLASS = "deviceclass/"


class QueueAccount:
    """Amounts of one queue in a session."""

    def __init__(self, queue: Queue) -> None:
        self.queue, self.name, self.weight = queue, queue.name, queue.weight
        self.allocated, self.request, self.inqueue, self.elastic = (
            Resources(),
            Resources(),
            Resources(),
            Resources(),
        )
        self.deserved, self.guarantee = Resources(), queue.guarantee.clone()
        self.share = 0.0
        self.capability: Resources | None = None
        if queue.capability is not None:
            self.capability = unlimited_where_unset(queue.capability, LARGEST_FLOAT, LARGEST_FLOAT)
        self.real_capability = Resources()
        self.ancestors: list[str] = []  # from the root down, without itself
        self.children: list[str] = []
        self.devices = DeviceAccount(queue)

    @property
    def is_interior(self) -> bool:
        return bool(self.children)


def unlimited_where_unset(capability: Resources, cpu: float, memory: float) -> Resources:
    """A copy in which cpu and memory that are not set have these values."""
    copy = capability.clone()
    copy.cpu = cpu if copy.cpu <= 0 else copy.cpu
    copy.memory = memory if copy.memory <= 0 else copy.memory
    return copy


class DeviceAccount:
    """DRA devices of a queue: limits, what is allocated and admitted, claims with their users (05 §10)."""

    def __init__(self, queue: Queue) -> None:
        spec = queue.obj.get("spec") or {}
        capability = spec.get("capability") or {}
        lists = (capability, spec.get("deserved") or {}, (spec.get("guarantee") or {}).get("resource") or {})
        self.tracked = any(DEVICE_CLASS in name for names in lists for name in names)
        self.limits = {
            name.removeprefix(DEVICE_CLASS): int(whole(text))
            for name, text in capability.items()
            if name.startswith(DEVICE_CLASS)
        }
        self.allocated: dict[str, int] = {}
        self.inqueue: dict[str, int] = {}
        self.users: dict[str, int] = {}  # claim -> tasks that hold it

    def need_of(self, task: Task) -> dict[str, int]:
        """Devices of the task's claims that nobody in this queue holds yet."""
        need: dict[str, int] = {}
        for claim, counts in task.claims.items():
            if not self.users.get(claim):
                add_counts(need, counts)
        return need

    def allows(self, need: dict[str, int], with_inqueue: bool) -> bool:
        if not self.tracked:
            return True
        for name, count in need.items():
            limit = self.limits.get(name, 0)
            used = self.allocated.get(name, 0) + (self.inqueue.get(name, 0) if with_inqueue else 0)
            if limit > 0 and used + count > limit:
                return False
        return True

    def change(self, task: Task, sign: int) -> None:
        """Count the task in (1) or out (-1); a claim counts with its first user."""
        for claim, counts in task.claims.items():
            before = self.users.get(claim, 0)
            self.users[claim] = max(0, before + sign)
            if (before == 0 and sign > 0) or (before == 1 and sign < 0):
                for name, count in counts.items():
                    self.allocated[name] = max(0, self.allocated.get(name, 0) + sign * count)


def add_counts(total: dict[str, int], counts: dict[str, int], factor: int = 1) -> None:
    for name, count in counts.items():
        total[name] = total.get(name, 0) + count * factor


def devices_for_minimum(job: Job) -> dict[str, int]:
    """Devices that the job's minimum needs (spec 05 §10.2)."""
    total: dict[str, int] = {}

    def add(task: Task, factor: int) -> None:
        for counts in task.claims.values():
            add_counts(total, counts, factor)

    claiming = sorted((t for t in job.tasks if t.claims), key=lambda t: (t.namespace, t.name, t.uid))
    if not job.role_minimum:
        for task in claiming[: max(0, job.minimum)]:
            add(task, 1)
    for role, minimum in job.role_minimum.items():
        of_role = [task for task in claiming if task.role == role]
        if minimum > 0 and of_role:
            add(of_role[0], minimum)
    return total


class QueueShares(Plugin):
    """Base of proportion and capacity."""

    accounts: dict[str, QueueAccount]

    def open_flat(self) -> None:
        """Accounts of the queues that have jobs, and what each may have at most (spec 05 §7.1)."""
        session = self.session
        self.accounts = {}
        guaranteed = total_of(queue.guarantee for queue in session.queues.values())
        for job in session.jobs.values():
            if job.queue not in self.accounts:
                self.accounts[job.queue] = QueueAccount(session.queues[job.queue])
            load_job(self.accounts[job.queue], job)
        for account in self.accounts.values():
            account.real_capability = positive_part(session.total, guaranteed).add(account.guarantee)
            if account.capability is not None:
                account.real_capability = minimum_absent_unlimited(account.real_capability, account.capability)

    def account_of(self, task: Task) -> QueueAccount | None:
        job = self.session.jobs.get(task.job_key)
        return self.accounts.get(job.queue) if job else None

    def upwards(self, account: QueueAccount) -> Iterator[QueueAccount]:
        """The account and those of its ancestors, the root last."""
        yield account
        for name in reversed(account.ancestors):
            yield self.accounts[name]


def load_job(account: QueueAccount, job: Job) -> None:
    """Add a job's amounts (spec 05 §1.2)."""
    for task in job.tasks:
        if task.status in ALLOCATED:
            account.allocated.add(task.request)
            account.devices.change(task, 1)
        if task.status in ALLOCATED or task.status == "Pending":
            account.request.add(task.request)
    admitted = job.phase == "Inqueue" or (job.phase == "Running" and job.allocated_count() >= job.minimum)
    if job.min_resources_list is not None and admitted:
        account.inqueue.add(job.without_gated(job.reserve()))
    account.elastic.add(job.elastic())
