"""Statements: several open at once, marked, absorbed, planned, replayed, kept or taken back in any order.

A plain model says what each task must be; the sums must follow (`verify`), and taking back must restore every
table bit for bit (design-notes §4, invariants 3, 4, 5).
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.generators.digest import digest
from tests.generators.effort import examples
from tests.generators.faults import no_faults
from tests.harness import SessionWorld
from vcsched.cache.verify import verify
from vcsched.framework.plugin import Ledger, Op, Refused
from vcsched.framework.session import Session
from vcsched.framework.statement import Plan, Statement
from vcsched.model.node import Node
from vcsched.model.status import ALLOCATED, BINDING, EVICTABLE, PENDING, PIPELINED, RELEASING
from vcsched.model.task import Task

Operation = tuple[Any, ...]
AFTER = {"allocate": ALLOCATED, "pipeline": PIPELINED, "evict": RELEASING}


class Recorder(Ledger):
    """Remembers what stands; its tokens must come back exactly once."""

    def __init__(self, *, lasting: bool) -> None:
        self.lasting = lasting
        self.standing: dict[int, tuple[str, str, str]] = {}
        self.decisions: dict[tuple[str, str], int] = {}
        self._last = 0

    def apply(self, op: Op, again: Any = None) -> int:
        self._last += 1
        self.standing[self._last] = entry(op)
        key = (op.kind, op.task.uid)
        assert again is None or again == self.decisions[key]
        self.decisions[key] = again if again is not None else self._last
        return self._last

    def undo(self, op: Op, token: Any) -> None:
        assert self.standing.pop(token) == entry(op)

    def decision(self, token: Any) -> Any:
        kind, uid, _ = self.standing[token]
        return self.decisions[kind, uid]

    def reset(self) -> None:
        self.standing.clear()


class Refuser(Ledger):
    """Takes no pod whose name ends with 3."""

    def apply(self, op: Op, again: Any = None) -> None:
        if op.task.name.endswith("3") and op.kind != "evict":
            raise Refused("not a third one")

    def undo(self, op: Op, token: Any) -> None:
        assert not op.task.name.endswith("3") or op.kind == "evict"


def entry(op: Op) -> tuple[str, str, str]:
    return op.kind, op.task.uid, op.node.name


class Model:
    """The session under test, and beside it what every task must be."""

    def __init__(self) -> None:
        self.world = world = SessionWorld()
        world.nodes(3, cpu=8)
        world.gang("a", pods=4, cpu=1)
        world.gang("b", pods=4, cpu=2, labels={"app": "b"}, spread="kubernetes.io/hostname")
        world.gang("c", pods=4)
        world.running("old", on=["n-0", "n-1", "n-2", "n-0"], cpu=1)
        self.session: Session = world.open()
        self.before, self.last = Recorder(lasting=False), Recorder(lasting=True)
        for ledger in (self.before, Refuser(), self.last):
            self.session.ledgers.add(None, ledger)  # type: ignore[arg-type]
        self.tasks: list[Task] = list(world.cache.picture.tasks.values())
        self.nodes: list[Node] = list(world.cache.picture.nodes_by_name.values())
        self.at_start = digest(world.cache)
        self.statements: list[Statement] = []
        self.marks: dict[int, list[int]] = {}
        self.plans: list[Plan] = []
        self.committed: list[Op] = []

    def do(self, operation: Operation) -> None:
        kind, which, *rest = operation
        if kind == "open" or not self.statements:
            if len(self.statements) < 5:
                self.statements.append(self.session.statement())
            return
        statement = self.statements[which % len(self.statements)]
        getattr(self, "_" + kind)(statement, *rest)

    def check(self) -> None:
        """Every task is what the standing operations make of it, and ledgers hold just those."""
        standing = [op for statement in self.statements for op in statement.ops] + self.committed
        expected = {t.uid: self.at_start["tasks"][t.uid][:3] for t in self.tasks}
        for op in standing:
            expected[op.task.uid] = (self._status(op), op.node, op.kind == "evict")
        assert {t.uid: (t.status, t.node, t.hidden) for t in self.tasks} == expected
        for ledger in (self.before, self.last):
            assert Counter(ledger.standing.values()) == Counter(entry(op) for op in standing)
        verify(self.world.cache, inside_session=True)

    def _status(self, op: Op) -> int:
        return BINDING if op in self.committed and op.kind == "allocate" else AFTER[op.kind]

    def finish(self) -> None:
        """The session ends: only committed allocations and evictions stay."""
        self.session.close()
        verify(self.world.cache)
        expected = {t.uid: self.at_start["tasks"][t.uid][:2] for t in self.tasks}
        lasting = [op for op in self.committed if op.kind != "pipeline"]
        for op in lasting:
            expected[op.task.uid] = (self._status(op), op.node)
        assert {t.uid: (t.status, t.node) for t in self.tasks} == expected
        assert self.before.standing == {}
        assert Counter(self.last.standing.values()) == Counter(entry(op) for op in lasting)
        if not lasting:
            now = digest(self.world.cache)
            for jobs in (now["jobs"], self.at_start["jobs"]):  # phases were written at the close
                jobs.update({key: job[:-1] for key, job in jobs.items()})
            now["sets"].pop("waiting_admission"), self.at_start["sets"].pop("waiting_admission")
            assert now == self.at_start

    # ---------------------------------------------------------------- operations

    def _able(self, statuses: Any, which: int) -> Task | None:
        able = [t for t in self.tasks if t.status in statuses]
        return able[which % len(able)] if able else None

    def _place(self, statement: Statement, kind: str, which: int, node: int) -> None:
        task = self._able({PENDING}, which)
        if task is None:
            return
        before = digest(self.world.cache)
        where = self.nodes[node % len(self.nodes)]
        if kind == "allocate":
            refusal = statement.allocate(task, where)
        else:
            refusal = statement.pipeline(task, where, after_eviction=node % 2 == 0)
        assert bool(refusal) == task.name.endswith("3")
        if refusal:
            assert refusal == "not a third one"
            assert digest(self.world.cache) == before

    def _allocate(self, statement: Statement, which: int, node: int) -> None:
        self._place(statement, "allocate", which, node)

    def _pipeline(self, statement: Statement, which: int, node: int) -> None:
        self._place(statement, "pipeline", which, node)

    def _evict(self, statement: Statement, which: int, _: int) -> None:
        task = self._able(EVICTABLE, which)
        if task is not None:
            statement.evict(task, "preempt")

    def _mark(self, statement: Statement, *_: int) -> None:
        self.marks.setdefault(id(statement), []).append(statement.mark())

    def _rollback(self, statement: Statement, which: int, _: int) -> None:
        marks = [m for m in self.marks.get(id(statement), ()) if m <= statement.mark()]
        statement.rollback(marks[which % len(marks)] if marks else 0)

    def _absorb(self, statement: Statement, which: int, _: int) -> None:
        other = self.statements[which % len(self.statements)]
        if other is not statement:
            statement.absorb(other)
            assert not other

    def _plan(self, statement: Statement, which: int, _: int) -> None:
        """A plan may be played again at once, and gives the very same tables."""
        there = digest(self.world.cache)
        plan = statement.plan(which % (statement.mark() + 1))
        away = digest(self.world.cache)
        assert statement.replay(plan) == ""
        assert _without_ops(digest(self.world.cache)) == _without_ops(there)
        self.plans.append(statement.plan(statement.mark() - len(plan)))
        assert digest(self.world.cache) == away

    def _replay(self, statement: Statement, which: int, _: int) -> None:
        """A plan is played whole, by any statement, as long as its tasks are free."""
        if not self.plans:
            return
        plan = self.plans[which % len(self.plans)]
        free = all(p.task.status in (EVICTABLE if p.kind == "evict" else {PENDING}) for p in plan)
        if free:
            assert statement.replay(plan) == ""

    def _commit(self, statement: Statement, *_: int) -> None:
        self.committed += statement.ops
        statement.commit()


def _without_ops(value: dict[str, Any]) -> dict[str, Any]:
    return value | {"tasks": {uid: task[:4] for uid, task in value["tasks"].items()}}


_number = st.integers(0, 40)
_placing = st.tuples(st.sampled_from(["allocate", "allocate", "pipeline", "evict"]), _number, _number, _number)
_other = st.tuples(
    st.sampled_from(["open", "mark", "mark", "rollback", "absorb", "plan", "replay", "replay", "commit"]),
    _number, _number, _number,
)  # fmt: skip
OPERATIONS = st.lists(st.one_of(_placing, _placing, _other), min_size=1, max_size=40)


@examples(40)
@given(OPERATIONS)
def test_open_statements_may_be_kept_or_taken_back_in_any_order(operations: list[Operation]) -> None:
    with no_faults():
        model = Model()
        for _ in range(3):
            model.do(("open", 0))
        for operation in operations:
            model.do(operation)
            model.check()
        model.finish()


@examples(20)
@given(st.lists(_placing, min_size=1, max_size=20), st.lists(_placing, min_size=1, max_size=20))
def test_taking_back_to_a_mark_restores_every_table_to_the_bit(kept: list[Operation], undone: list[Operation]) -> None:
    model = Model()
    statement = model.session.statement()
    model.statements.append(statement)
    for operation in kept:
        model.do(operation)
    mark, before = statement.mark(), digest(model.world.cache)
    for operation in undone:
        model.do(operation)
    statement.rollback(mark)
    assert digest(model.world.cache) == before
    statement.rollback()
    assert digest(model.world.cache) == model.at_start


def test_a_plan_that_is_refused_half_way_leaves_nothing_behind() -> None:
    model = Model()
    names = {task.name: task for task in model.tasks}
    model.session.ledgers.active.remove(next(x for x in model.session.ledgers.active if isinstance(x, Refuser)))
    statement = model.session.statement()
    for name in ("a-0", "a-3"):
        assert statement.allocate(names[name], model.nodes[0]) == ""
    plan = statement.plan()
    model.session.ledgers.active.append(Refuser())
    before = digest(model.world.cache)

    assert statement.replay(plan) == "not a third one"

    assert digest(model.world.cache) == before
    assert not statement
    assert model.before.standing == {}


def test_an_undone_attempt_is_remembered_until_the_job_is_tried_again() -> None:
    model = Model()
    task = next(t for t in model.tasks if t.name == "a-0")
    statement = model.session.statement()
    statement.pipeline(task, model.nodes[1], after_eviction=True)
    statement.rollback()
    assert task.attempt == (PIPELINED, model.nodes[1], True)
    model.session.close()
    assert task.attempt == (PIPELINED, model.nodes[1], True)
    assert task.job is not None
    task.job.forget_reasons()
    assert task.attempt is None


@pytest.mark.parametrize("kind", ["allocate", "pipeline"])
def test_a_statement_left_open_holds_room_until_the_session_ends(kind: str) -> None:
    model = Model()
    task = next(t for t in model.tasks if t.name == "b-0")
    column = "idle" if kind == "allocate" else "future"
    free = model.session.node_table.amounts_of(column, model.nodes[2].row)["cpu"]
    getattr(model.session.statement(), kind)(task, model.nodes[2])
    assert model.session.node_table.amounts_of(column, model.nodes[2].row)["cpu"] == free - 2000
    model.session.close()
    assert model.session.node_table.amounts_of(column, model.nodes[2].row)["cpu"] == free
    verify(model.world.cache)
