"""Victims that a job does not need after all (design-notes §7 row 10).

Node by node nobody goes in vain. But a later pod of the job may have taken a gang that goes whole, or a larger
pod, and with it more room than it needed, also on nodes where others were evicted for earlier pods. Before the
job's evictions are committed each is taken back once, to see whether all promises still hold.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from vcsched.columns.journal import EVICT, PIPELINE
from vcsched.framework.promises import without_leaving
from vcsched.framework.shapestate import EPSILON
from vcsched.framework.victims import fit_test

if TYPE_CHECKING:
    from vcsched.framework.session import Session
    from vcsched.framework.statement import Statement
    from vcsched.model.node import Node
    from vcsched.model.task import Task


class _Promise(NamedTuple):
    task: Task
    node: Node
    after_eviction: bool


def give_back_needless(ssn: Session, statement: Statement, action: str) -> None:
    """Take back the evictions that no promise of the statement needs: gangs first, then the highest pods."""
    units = _units(statement, action)
    if len(units) < 2:
        return
    promises = [_Promise(op.task, op.node, op.after_eviction) for op in statement.ops if op.kind == PIPELINE]
    units.sort(key=lambda unit: (-len(unit), -max(task.job.priority if task.job else 0 for task, _ in unit)))
    for unit in units:
        nodes = {task.node.name for task, _ in unit if task.node is not None}
        near = [promise for promise in promises if promise.node.name in nodes]
        if not near or not _is_room_left(ssn, unit, {promise.node.name for promise in near}):
            continue
        for task, _ in unit:
            statement.spare(task)
        if not all(_holds(ssn, statement, promise) for promise in promises):
            for task, reason in unit:
                statement.evict(task, reason)


def _units(statement: Statement, action: str) -> list[list[tuple[Task, str]]]:
    """Evicted pods with the reasons: those of a gang that goes whole belong together."""
    evictions = [op for op in statement.ops if op.kind == EVICT]
    whole = {op.task.job_key for op in evictions if op.reason != action}
    units: dict[str, list[tuple[Task, str]]] = {}
    for op in evictions:
        task = op.task
        units.setdefault(task.job_key if task.job_key in whole else task.uid, []).append((task, op.reason))
    return list(units.values())


def _is_room_left(ssn: Session, unit: list[tuple[Task, str]], promised: set[str]) -> bool:
    """Whether the nodes on which something is promised have room for these pods besides."""
    future = ssn.node_table.future_cells
    asked: dict[tuple[int, int], float] = {}
    for task, _ in unit:
        if task.node is not None and task.node.name in promised:
            for column, amount in task.request.items:
                at = (column, task.node.row)
                asked[at] = asked.get(at, 0.0) + amount
    return all(future[column][row] > amount - EPSILON for (column, row), amount in asked.items())


def _holds(ssn: Session, statement: Statement, promise: _Promise) -> bool:
    """Whether the promise could be made as things stand: queue share, room, all filters."""
    task, node = promise.task, promise.node
    ask = ssn.pipeline.ask(task)
    assert ask.queue is not None
    statement.withdraw(task)
    with without_leaving(ssn, node):
        holds = fit_test(ssn, ask, node, ask.queue)()
    refusal = statement.pipeline(task, node, after_eviction=promise.after_eviction)
    assert not refusal, refusal  # the same promise was made before
    return holds
