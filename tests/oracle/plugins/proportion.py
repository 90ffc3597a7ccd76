"""proportion: queues share by weight what they ask for (spec 05 §7)."""

from __future__ import annotations

from tests.oracle.job import Job
from tests.oracle.points import PERMIT, REJECT, Vote
from tests.oracle.queue import Queue
from tests.oracle.resources import (
    Resources,
    fits,
    maximum,
    minimum_absent_unlimited,
    minimum_absent_zero,
    over_limit,
    plus,
    positive_part,
    share,
    total_of,
)
from tests.oracle.task import Task

from .base import compare
from .queue_shares import QueueAccount, QueueShares

MAX_ROUNDS = 100_000


class Proportion(QueueShares):
    def open(self) -> None:
        self.open_flat()
        self.fill_water()
        for account in self.accounts.values():
            update_share(account)

    def fill_water(self) -> None:
        """Hand out the total by weight, round by round, to queues whose request is not met (spec 05 §7.2)."""
        remaining, met = self.session.total.clone(), set[str]()
        for _ in range(MAX_ROUNDS):
            weights = sum(account.weight for account in self.accounts.values() if account.name not in met)
            if weights == 0:
                break
            increased, decreased = Resources(), Resources()
            for account in self.accounts.values():
                if account.name in met:
                    continue
                before = account.deserved
                wanted = plus(before, remaining.times(account.weight / weights))
                limited = minimum_absent_unlimited(wanted, account.real_capability)
                asked = minimum_absent_zero(limited, account.request)
                account.deserved = maximum(asked, account.guarantee)
                if fits(account.request, account.deserved) or account.deserved.equals(before):
                    met.add(account.name)
                increased.add(positive_part(account.deserved, before))
                decreased.add(positive_part(before, account.deserved))
            left = positive_part(plus(remaining, decreased), increased)
            if left.is_empty() or left.equals(remaining):
                break
            remaining = left

    # ---- extension points (spec 05 §7.3)

    def queue_order(self, left: Queue, right: Queue) -> int:
        if left.priority != right.priority:
            return compare(right.priority, left.priority)
        left_account, right_account = self.accounts.get(left.name), self.accounts.get(right.name)
        if left_account is None or right_account is None:
            return 0
        return compare(left_account.share, right_account.share)

    def overused(self, queue: Queue) -> bool:
        account = self.accounts.get(queue.name)
        return account is not None and fits(account.deserved, account.allocated)

    def allocatable(self, queue: Queue, task: Task) -> bool:
        return self.preemptive(queue, [task])

    def preemptive(self, queue: Queue, tasks: list[Task]) -> bool:
        account = self.accounts[queue.name]
        if not queue.is_open:
            return False
        request = total_of(task.request for task in tasks)
        return not over_limit(plus(account.allocated, request), account.deserved, request)

    def simulate_allocatable(self, queue: Queue, task: Task, changes: dict[str, Resources]) -> bool:
        account = self.accounts[queue.name]
        after = plus(plus(account.allocated, changes.get(queue.name, Resources())), task.request)
        return not over_limit(after, account.deserved, task.request)

    def reclaimable(self, evictor: Task, candidates: list[Task]) -> tuple[list[Task], Vote]:
        """Victims of queues that are above what they deserve."""
        left: dict[str, Resources] = {}
        victims = []
        for task in candidates:
            account = self.account_of(task)
            if account is None:
                continue
            rest = left.setdefault(account.name, account.allocated.clone())
            if not fits(rest, account.deserved):
                rest.subtract(task.request)
                victims.append(task)
        return victims, PERMIT

    def job_enqueueable(self, job: Job) -> Vote:
        account = self.accounts[job.queue]
        if not account.queue.is_open:
            return REJECT
        if job.min_resources_list is None:
            return PERMIT
        after = plus(plus(job.min_resources, account.allocated), account.inqueue).subtract(account.elastic)
        return REJECT if over_limit(after, account.real_capability, job.min_resources) else PERMIT

    def job_enqueued(self, job: Job) -> None:
        if job.min_resources_list is not None:
            self.accounts[job.queue].inqueue.add(job.without_gated(job.min_resources))

    def on_allocate(self, task: Task) -> None:
        account = self.account_of(task)
        if account:
            account.allocated.add(task.request)
            update_share(account)

    def on_deallocate(self, task: Task) -> None:
        account = self.account_of(task)
        if account:
            account.allocated.subtract(task.request)
            update_share(account)


def update_share(account: QueueAccount) -> None:
    account.share = share(account.allocated, account.deserved, account.deserved.names())
