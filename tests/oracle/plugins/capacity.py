"""capacity: queues have a capability, a deserved and a guaranteed amount, flat or in a tree (05 §8, §9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.job import Job
from tests.oracle.points import PERMIT, REJECT, Vote
from tests.oracle.queue import Queue
from tests.oracle.resources import (
    LARGEST_FLOAT,
    LARGEST_INT,
    Resources,
    common_names,
    exceeds_relevant,
    fits,
    maximum,
    minimum_absent_unlimited,
    minus,
    over_limit,
    plus,
    positive_part,
    share,
    some_within,
    total_of,
)
from tests.oracle.task import Task

from .base import compare
from .queue_shares import (
    QueueAccount,
    QueueShares,
    add_counts,
    devices_for_minimum,
    load_job,
    unlimited_where_unset,
)

if TYPE_CHECKING:
    from tests.oracle.actions.gang_evict import EvictionContext

ROOT = "root"


class Capacity(QueueShares):
    def open(self) -> None:
        self.hierarchical = bool(self.entry.get("enableHierarchy"))
        self.reclaim_level = max(0, self.int_argument("ancestorReclaimLevel", 0))
        # False: the tree is broken or a job sits in an inner queue; then nothing may be allocated (05 §9.1)
        self.usable = True
        if self.hierarchical:
            self.usable = self._open_tree()
            if self.usable:
                self.queue_order = self._tree_order
                self.victim_queue_order = self._victim_queue_order
        else:
            self.queue_order = self._flat_order
            self.open_flat()
            for account in self.accounts.values():
                limited = minimum_absent_unlimited(account.queue.deserved, account.real_capability)
                account.deserved = maximum(limited, account.guarantee)
        if self.usable:
            for account in self.accounts.values():
                update_share(account)

    # ---- tree (spec 05 §9.1-9.3)

    def _open_tree(self) -> bool:
        self.accounts = {queue.name: QueueAccount(queue) for queue in self.session.queues.values()}
        if ROOT not in self.accounts:
            return False
        for account in self.accounts.values():
            if account.name != ROOT and not self._link(account):
                return False
        for job in self.session.jobs.values():
            account = self.accounts[job.queue]
            if account.is_interior:
                return False
            amounts = QueueAccount(account.queue)
            load_job(amounts, job)
            for above in self.upwards(account):
                above.allocated.add(amounts.allocated)
                above.request.add(amounts.request)
                above.inqueue.add(amounts.inqueue)
                above.elastic.add(amounts.elastic)
        self._set_root_limits()
        self._set_limits_below(self.accounts[ROOT])
        return True

    def _link(self, account: QueueAccount) -> bool:
        """Find the ancestors; False if the chain does not end at the root."""
        chain: list[str] = []
        parent = account.queue.parent or ROOT
        while parent in self.accounts and parent != ROOT and parent not in chain:
            chain.append(parent)
            parent = self.accounts[parent].queue.parent or ROOT
        if parent != ROOT:
            return False
        account.ancestors = [ROOT, *reversed(chain)]
        self.accounts[account.ancestors[-1]].children.append(account.name)
        return True

    def _set_root_limits(self) -> None:
        root = self.accounts[ROOT]
        if root.queue.capability is None or root.queue.capability.is_empty():
            scalars = dict.fromkeys(self.session.total.scalars or {}, LARGEST_INT)
            root.capability = Resources(LARGEST_FLOAT, LARGEST_FLOAT, scalars)
        root.real_capability = root.capability or Resources()

    def _set_limits_below(self, parent: QueueAccount) -> None:
        children = [self.accounts[name] for name in parent.children]
        limit = parent.capability or Resources()
        for child in children:
            child.deserved = maximum(child.queue.deserved, child.guarantee)
            own = child.queue.capability if child.queue.capability is not None else Resources()
            own = unlimited_where_unset(own, limit.cpu, limit.memory)
            for name, amount in (limit.scalars or {}).items():
                if name not in (own.scalars or {}):
                    own.set(name, amount)
            child.capability = own
        guaranteed = total_of(child.guarantee for child in children)
        if parent.name == ROOT:
            parent.guarantee, parent.deserved = guaranteed, total_of(child.deserved for child in children)
        for child in children:
            room = positive_part(parent.real_capability, guaranteed).add(child.guarantee)
            child.real_capability = minimum_absent_unlimited(room, child.capability or Resources())
            self._set_limits_below(child)

    def _ancestor(self, account: QueueAccount, level: int) -> QueueAccount | None:
        """The ancestor so many levels up, unless that is the root or above."""
        if len(account.ancestors) < level or account.ancestors[-level] == ROOT:
            return None
        return self.accounts[account.ancestors[-level]]

    def _levels(self) -> range:
        return range(1, self.reclaim_level + 1)

    # ---- order (spec 05 §8.2, §9.4)

    def _flat_order(self, left: Queue, right: Queue) -> int:
        if left.priority != right.priority:
            return compare(right.priority, left.priority)
        left_account, right_account = self.accounts.get(left.name), self.accounts.get(right.name)
        return compare_shares(left_account, right_account) if left_account and right_account else 0

    def _tree_order(self, left: Queue, right: Queue) -> int:
        """Leaves first; leaves by the shares where their paths part."""
        if left.priority != right.priority:
            return compare(right.priority, left.priority)
        left_account, right_account = self.accounts[left.name], self.accounts[right.name]
        if left_account.is_interior != right_account.is_interior:
            return 1 if left_account.is_interior else -1
        if left_account.is_interior:
            return compare_shares(left_account, right_account)
        depth = common_depth(left_account, right_account)
        left_path = [*left_account.ancestors, left_account.name]
        right_path = [*right_account.ancestors, right_account.name]
        return compare_shares(self.accounts[left_path[depth]], self.accounts[right_path[depth]])

    def _victim_queue_order(self, left: Queue, right: Queue, evictor: Queue) -> int:
        """The queue nearer to the evictor's first, then the reverse of the queue order."""
        own = self.accounts[evictor.name]
        left_depth = common_depth(self.accounts[left.name], own)
        right_depth = common_depth(self.accounts[right.name], own)
        return compare(right_depth, left_depth) or -self._tree_order(left, right)

    # ---- may a queue allocate, reclaim, admit (spec 05 §8.3, §8.6, §8.7)

    def allocatable(self, queue: Queue, task: Task) -> bool:
        account = self.accounts[queue.name]
        if not queue.is_open or not self.usable or account.is_interior:
            return False
        return all(
            above.devices.allows(above.devices.need_of(task), with_inqueue=False)
            and not over_limit(plus(above.allocated, task.request), above.real_capability, task.request)
            for above in self.upwards(account)
        )

    def simulate_allocatable(self, queue: Queue, task: Task, changes: dict[str, Resources]) -> bool:
        account = self.accounts[queue.name]
        if not self.usable or account.is_interior:
            return False
        for above in self.upwards(account):
            after = plus(plus(above.allocated, changes.get(above.name, Resources())), task.request)
            if over_limit(after, above.real_capability, task.request):
                return False
        return True

    def preemptive(self, queue: Queue, tasks: list[Task]) -> bool:
        account = self.accounts[queue.name]
        if not self.usable or not queue.is_open:
            return False
        request = total_of(task.request for task in tasks)
        after = plus(account.allocated, request)
        if over_limit(after, account.real_capability, request):
            return False
        if some_within(after, account.deserved, request):
            return True
        above = [self._ancestor(account, level) for level in self._levels()]
        return any(a is not None and some_within(plus(a.allocated, request), a.deserved, request) for a in above)

    def job_enqueueable(self, job: Job) -> Vote:
        account = self.accounts[job.queue]
        if not self.usable or account.is_interior or not account.queue.is_open:
            return REJECT
        need = devices_for_minimum(job) if account.devices.tracked else {}
        if job.min_resources_list is None and not need:
            return PERMIT
        for above in self.upwards(account):
            after = plus(plus(job.min_resources, above.allocated), above.inqueue).subtract(above.elastic)
            if over_limit(after, above.real_capability, job.min_resources):
                return REJECT
            if not above.devices.allows(need, with_inqueue=True):
                return REJECT
        return PERMIT

    def job_enqueued(self, job: Job) -> None:
        account = self.accounts.get(job.queue)
        if account is None:
            return
        need = devices_for_minimum(job) if account.devices.tracked else {}
        for above in self.upwards(account):
            above.inqueue.add(job.without_gated(job.min_resources))
            if above.devices.tracked:
                add_counts(above.devices.inqueue, need)

    # ---- victims (spec 05 §8.4, §8.5, §9.5)

    def reclaimable(self, evictor: Task, candidates: list[Task]) -> tuple[list[Task], Vote]:
        own_job = self.session.jobs.get(evictor.job_key)
        own = self.accounts.get(own_job.queue) if own_job else None
        if not self.usable or own is None:
            return [], REJECT
        left: dict[str, Resources] = {}
        victims = []
        heap = self.session.victim_heap(evictor, candidates)
        while heap:
            task = heap.pop()
            if self._may_lose(task, evictor, own, left):
                victims.append(task)
        return victims, PERMIT

    def _may_lose(self, task: Task, evictor: Task, own: QueueAccount, left: dict[str, Resources]) -> bool:
        """Whether a queue may lose the task; `left` holds what earlier victims leave to each queue."""
        account = self.account_of(task)
        if account is None:
            return False
        if not [name for name in common_names(task.request, evictor.request) if name != "pods"]:
            return False
        rest = left.setdefault(account.name, account.allocated.clone())
        if not fits(task.request, rest):
            self.session.warnings.append("capacity: asserting subtraction")
        if not fits(account.guarantee, minus(rest, task.request)):
            return False
        if not common_names(task.request, account.deserved):
            if account is not own and self._spares_sibling(account, own, evictor):
                return False
        elif not exceeds_relevant(rest, account.deserved, task.request):
            return False
        charged = [rest]
        for level in self._levels():
            above = self._ancestor(account, level)
            if above is None or above is self._ancestor(own, level):
                continue
            rest_above = left.setdefault(above.name, above.allocated.clone())
            if common_names(task.request, above.deserved) and not exceeds_relevant(
                rest_above, above.deserved, task.request
            ):
                return False
            charged.append(rest_above)
        for amount in charged:
            amount.subtract(task.request)
        return True

    def _spares_sibling(self, account: QueueAccount, own: QueueAccount, evictor: Task) -> bool:
        """Restraint under a common ancestor where the evictor's queue deserves nothing of what it asks."""
        if not self.reclaim_level or common_names(evictor.request, own.deserved):
            return False

        def near(of: QueueAccount) -> set[str]:
            above = (self._ancestor(of, level) for level in self._levels())
            return {ancestor.name for ancestor in above if ancestor is not None}

        return bool(near(account) & near(own))

    def unified_evictable(self, context: EvictionContext, candidates: list[Task]) -> tuple[list[Task], Vote]:
        if context.action == "gangpreempt":
            return list(candidates), PERMIT
        if not self.usable:
            return [], REJECT
        left: dict[str, Resources] = {}
        victims = []
        for task in candidates:
            account = self.account_of(task)
            if account is None:
                continue
            rest = left.setdefault(account.name, account.allocated.clone())
            if not fits(account.guarantee, minus(rest, task.request)):
                continue
            deserves = common_names(task.request, account.deserved)
            if deserves and not exceeds_relevant(rest, account.deserved, task.request):
                continue
            rest.subtract(task.request)
            victims.append(task)
        return victims, PERMIT

    # ---- events: the shares of ancestors are not refreshed (spec 05 §8.8, §9.4)

    def on_allocate(self, task: Task) -> None:
        account = self.account_of(task)
        if account:
            for above in self.upwards(account):
                above.allocated.add(task.request)
                above.devices.change(task, 1)
            update_share(account)

    def on_deallocate(self, task: Task) -> None:
        account = self.account_of(task)
        if account:
            for above in self.upwards(account):
                above.allocated.subtract(task.request)
                above.devices.change(task, -1)
            update_share(account)


def update_share(account: QueueAccount) -> None:
    """A queue that deserves nothing counts as full (spec 05 §8.1)."""
    if account.deserved.is_empty():
        account.share = 1.0
    else:
        account.share = share(account.allocated, account.deserved, account.deserved.names())


def compare_shares(left: QueueAccount, right: QueueAccount) -> int:
    answer = compare(left.share, right.share)
    return answer or compare(left.deserved.is_empty(), right.deserved.is_empty())


def common_depth(left: QueueAccount, right: QueueAccount) -> int:
    """How many ancestors, from the root, two queues share."""
    depth = 0
    while depth < min(len(left.ancestors), len(right.ancestors)) and left.ancestors[depth] == right.ancestors[depth]:
        depth += 1
    return depth
