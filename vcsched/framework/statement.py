"""Statements: what a session tries, as a list of operations that can be kept or taken back (spec 03 §12).

Operations take effect at once. `commit` sends them to the cluster, `rollback` takes them back; a statement
may also stay open, holding room until the session ends. Undo moves each task back to what it was, so
several open statements may be undone in any order (design-notes D1, §2.9).
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from vcsched.columns.journal import ALLOCATE, COMMITTED, EVICT, OPEN, PIPELINE, UNDONE, Op, Refused
from vcsched.model.status import ALLOCATED, BOUND, PIPELINED, RELEASING, RUNNING
from vcsched.model.task import Attempt

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.model.node import Node
    from vcsched.model.task import Task

log = logging.getLogger(__name__)


class PlannedOp(NamedTuple):
    """One operation of a plan: enough to do it again with the same decisions."""

    kind: str
    task: Task
    node: Node | None
    after_eviction: bool
    reason: str
    hypernode: str
    decisions: tuple[Any, ...]  # one per ledger that took part, in their order


Plan = tuple[PlannedOp, ...]


class Statement:
    """Operations in order; see the module's text."""

    def __init__(self, ssn: Session) -> None:
        self._ssn = ssn
        self.ops: list[Op] = []
        self.beneficiary = ""  # key of the job that evictions are made for

    def __bool__(self) -> bool:
        return bool(self.ops)

    @property
    def has_evictions(self) -> bool:
        return any(op.kind == EVICT for op in self.ops)

    # ------------------------------------------------------------------ doing

    def allocate(self, task: Task, node: Node) -> str:
        """Give a pending task room that is idle. Returns "" or why a ledger refused; then nothing changed."""
        return self._do(Op(ALLOCATE, task, node), ALLOCATED)

    def pipeline(self, task: Task, node: Node, *, after_eviction: bool = False) -> str:
        """Promise a pending task room that is being freed. Returns as `allocate`."""
        return self._do(Op(PIPELINE, task, node, after_eviction=after_eviction), PIPELINED)

    def evict(self, task: Task, reason: str) -> None:
        """Take a running or bound task off its node; until the session ends it is out of the view."""
        self._do(Op(EVICT, task, task.node, reason=reason), RELEASING)

    def spare(self, task: Task) -> None:
        """Take back the eviction of one task of this statement; the other operations stay."""
        self._take_back(task, EVICT)

    def withdraw(self, task: Task) -> None:
        """Take back the promise to one task of this statement; the other operations stay."""
        self._take_back(task, PIPELINE)

    def _take_back(self, task: Task, kind: str) -> None:
        op = next(op for op in reversed(self.ops) if op.task is task and op.kind == kind)
        self.ops.remove(op)
        undo(self._ssn, op)

    def _do(self, op: Op, status: int, decisions: tuple[Any, ...] = ()) -> str:
        ssn, task = self._ssn, op.task
        ssn.accounting.place(task, status, op.node, hidden=op.kind == EVICT)
        task.after_eviction = op.after_eviction
        task.op = op
        if ssn.ledgers.active:
            refusal = self._enter_ledgers(op, decisions)
            if refusal:
                undo(self._ssn, op)
                return refusal
        self.ops.append(op)
        ssn.journal.append(op)
        return ""

    def _enter_ledgers(self, op: Op, decisions: tuple[Any, ...]) -> str:
        entered = op.ledgers = []
        for number, ledger in enumerate(self._ssn.ledgers.active):
            again = decisions[number] if number < len(decisions) else None
            try:
                entered.append((ledger, ledger.apply(op, again)))
            except Refused as refusal:
                return str(refusal) or f"{type(ledger).__name__} refused"
        return ""

    # ------------------------------------------------------------------ undoing

    def mark(self) -> int:
        """A place to roll back to."""
        return len(self.ops)

    def rollback(self, mark: int = 0) -> None:
        """Take back everything behind the mark, last first; each pending task remembers what it had been given."""
        while len(self.ops) > mark:
            op = self.ops.pop()
            if op.kind != EVICT:
                task = op.task
                task.attempt = Attempt(task.status, task.node, task.after_eviction)
            undo(self._ssn, op)

    # ------------------------------------------------------------------ composing

    def absorb(self, other: Statement) -> None:
        """Take over the operations of another statement; nothing is done again."""
        self.ops.extend(other.ops)
        other.ops = []

    def plan(self, mark: int = 0) -> Plan:
        """Write down the operations behind the mark, and take them back."""
        plan = tuple(
            PlannedOp(
                op.kind,
                op.task,
                op.node,
                op.after_eviction,
                op.reason,
                op.task.hypernode,
                tuple(ledger.decision(token) for ledger, token in op.ledgers),
            )  # fmt: skip
            for op in self.ops[mark:]
        )
        self.rollback(mark)
        return plan

    def replay(self, plan: Plan) -> str:
        """Do a plan again, whole or not at all. Returns "" or why not."""
        mark = self.mark()
        status = {ALLOCATE: ALLOCATED, PIPELINE: PIPELINED, EVICT: RELEASING}
        for planned in plan:
            node = planned.node if planned.node is not None else planned.task.node
            op = Op(planned.kind, planned.task, node, after_eviction=planned.after_eviction, reason=planned.reason)
            refusal = self._do(op, status[planned.kind], planned.decisions)
            if refusal:
                self.rollback(mark)
                return refusal
            planned.task.hypernode = planned.hypernode
        return ""

    # ------------------------------------------------------------------ keeping

    def commit(self) -> None:
        """Send binds and evictions. A promise of room that is being freed is kept until the session ends only."""
        ssn = self._ssn
        for op in self.ops:
            task = op.task
            task.attempt = None
            op.state = COMMITTED
            if op.kind == ALLOCATE:
                task.op = None
                ssn.bind(task)
            elif op.kind == EVICT:
                ssn.cache.evictor.evict(task, op.reason, self.beneficiary)
        if self.ops:
            ssn.committed([op.task for op in self.ops if op.kind == ALLOCATE])
        self.ops = []


def undo(ssn: Session, op: Op) -> None:
    """Take one operation back: ledgers in reverse, then the task to what it was."""
    for ledger, token in reversed(op.ledgers):
        ledger.undo(op, token)
    task = op.task
    status = op.was_status
    if op.kind == EVICT and ssn.compat.unevict_running:
        status = RUNNING
    ssn.accounting.place(task, status, op.was_node, hidden=op.was_hidden)
    task.after_eviction = op.was_after_eviction
    task.op = op.was_op
    if op.kind != EVICT:
        task.hypernode = ""
    op.state = UNDONE


def settle(ssn: Session) -> None:
    """The session ends: what was not committed, and every promise, is taken back; evicted pods come back into
    the view of filters, because they are still there until their node lets go of them."""
    accounting = ssn.accounting
    accounting.quiet = True
    try:
        for op in reversed(ssn.journal):
            task = op.task
            if op.state == OPEN or (op.state == COMMITTED and op.kind == PIPELINE):
                for ledger, token in reversed(op.ledgers):
                    ledger.undo(op, token)
                accounting.place(task, op.was_status, op.was_node, hidden=op.was_hidden)
                task.after_eviction = op.was_after_eviction
                task.attempt = None
                task.hypernode = ""
                op.state = UNDONE
            elif op.state == UNDONE and op.kind == EVICT and task.status == RUNNING and op.was_status == BOUND:
                accounting.place(task, BOUND, task.node)  # shown as Running for this session only (`unevictRunning`)
            elif op.state == COMMITTED and op.kind == EVICT:
                accounting.place(task, task.status, task.node, hidden=False)
            task.op = None
    finally:
        accounting.quiet = False
    for ledger in ssn.ledgers.active:
        if not ledger.lasting:
            ledger.reset()
