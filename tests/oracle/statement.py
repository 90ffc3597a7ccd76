"""Statements: decisions that can be taken back until they are committed (spec 03 §12, 04 §2.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .task import Task

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True)
class Operation:
    """`kind` is evict, allocate or pipeline; `node` is empty for evict."""

    kind: str
    task: Task
    node: str = ""


class Statement:
    """A journal of operations on the session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.operations: list[Operation] = []

    def evict(self, task: Task) -> None:
        task.status = "Releasing"
        if task.node in self.session.nodes:
            self.session.nodes[task.node].update(task)
        self.session.fire("on_deallocate", task)
        self.operations.append(Operation("evict", task))

    def allocate(self, task: Task, node: str) -> None:
        self._place("allocate", task, node)

    def pipeline(self, task: Task, node: str) -> None:
        self._place("pipeline", task, node)

    def _place(self, kind: str, task: Task, node: str) -> None:
        task.status = "Pipelined" if kind == "pipeline" else "Allocated"
        task.node = node
        self.session.nodes[node].add(task)
        self.session.fire("on_allocate", task)
        self.operations.append(Operation(kind, task, node))

    def discard(self) -> None:
        """Undo everything, last first. An evicted task becomes Running, whatever it was (spec 03 §12.3)."""
        for operation in reversed(self.operations):
            task = operation.task
            if operation.kind == "evict":
                task.status = "Running"
                if task.node in self.session.nodes:
                    self.session.nodes[task.node].update(task)
                task.being_unevicted = True
                self.session.fire("on_allocate", task)
                task.being_unevicted = False
            else:
                take_back(self.session, task)
        self.operations = []

    def commit(self) -> None:
        """Emit evictions and binds; a pipelined task stays promised within the session (spec 03 §12.2)."""
        for operation in self.operations:
            if operation.kind == "evict":
                self.session.evictions.append(operation.task.key)
            elif operation.kind == "allocate":
                operation.task.status = "Binding"
                self.session.binds[operation.task.key] = operation.task.node
        self.operations = []

    def plan(self) -> list[Operation]:
        return list(self.operations)

    def replay(self, plan: list[Operation]) -> None:
        for operation in plan:
            if operation.kind == "evict":
                self.evict(operation.task)
            else:
                self._place(operation.kind, operation.task, operation.node)

    def absorb(self, other: Statement) -> None:
        """Take over another statement's operations."""
        self.operations += other.operations
        other.operations = []


def take_back(session: Session, task: Task) -> None:
    """A placed task is pending again."""
    task.status = "Pending"
    session.nodes[task.node].remove(task)
    session.fire("on_deallocate", task)
    task.node = ""
