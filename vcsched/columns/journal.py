"""The undo journal's words: operations, and ledgers that take part in them.

Undo is an inverse delta keyed by task, never a before-image: an operation remembers what its task was, and
undoing it moves the task back. Sums follow the task, so operations of several open transactions may be
undone in any order (DESIGN 1.1, design-notes D1, §2.9).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

ALLOCATE, PIPELINE, EVICT = "allocate", "pipeline", "evict"
OPEN, COMMITTED, UNDONE = "open", "committed", "undone"


class Refused(Exception):
    """A ledger cannot take an operation; the operation is taken back and the text becomes the reason."""


class Op:
    """One operation on one task. `was_*` is what the task was before; `tokens` belong to ledgers."""

    __slots__ = (
        "after_eviction", "kind", "ledgers", "node", "reason", "state", "task",
        "was_after_eviction", "was_hidden", "was_node", "was_op", "was_status",
    )  # fmt: skip

    def __init__(self, kind: str, task: Any, node: Any, *, after_eviction: bool = False, reason: str = "") -> None:
        self.kind = kind
        self.task = task
        self.node = node
        self.after_eviction = after_eviction
        self.reason = reason
        self.was_status: int = task.status
        self.was_node = task.node
        self.was_hidden: bool = task.hidden
        self.was_after_eviction: bool = task.after_eviction
        self.was_op = task.op
        self.state = OPEN
        self.ledgers: Sequence[tuple[Ledger, Any]] = ()  # that took part, with their tokens


class Ledger:
    """Plugin state that follows statements.

    `apply` runs for every operation while a statement is made, and for the re-play of a plan; `undo` must be
    its exact inverse and must not raise. State of a ledger that is not `lasting` is wiped by `reset` when the
    session ends, whatever became of its operations.
    """

    lasting = False

    def apply(self, op: Op, again: Any = None) -> Any:
        """Take part in `op`; the returned token comes back in `undo`. `again` is the token's `decision` at
        re-play. Raises `Refused` if the operation cannot be done; nothing may have changed then."""
        raise NotImplementedError

    def undo(self, op: Op, token: Any) -> None:
        """Take back what `apply` did for this operation."""
        raise NotImplementedError

    def decision(self, token: Any) -> Any:
        """What a plan must remember so that a re-play decides the same; None if nothing."""
        return None

    def reset(self) -> None:
        """The session ends (session ledgers only)."""
