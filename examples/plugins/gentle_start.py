"""At most so many pods start on a node at once, so that a big gang does not pull its images all together.

    - name: gentle_start
      arguments:
        gentle_start.pods: 5

What a session has started is counted in a ledger: it follows the statements, so a gang that does not
come off leaves no count behind, and the session's end clears it.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from vcsched.framework.api import ALLOCATE, Arguments, Fit, Ledger, Node, Op, Plugin, Session, Task


class Starts(Ledger):
    """Pods started on each node in this session, by node name."""

    def __init__(self) -> None:
        self.on: Counter[str] = Counter()

    def apply(self, op: Op, again: Any = None) -> str | None:
        if op.kind != ALLOCATE:
            return None
        node: str = op.node.name
        self.on[node] += 1
        return node

    def undo(self, op: Op, token: str | None) -> None:
        if token is not None:
            self.on[token] -= 1

    def reset(self) -> None:
        self.on.clear()


class GentleStart(Plugin):
    name = "gentle_start"

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self.most = args.int("gentle_start.pods", 10)
        self.starts = Starts()

    def open(self, ssn: Session) -> None:
        ssn.ledgers.add(self, self.starts)
        ssn.predicate.add(self, self.fits)

    def fits(self, task: Task, node: Node) -> Fit | None:
        if self.starts.on[node.name] >= self.most:
            return Fit.unschedulable(f"node(s) already starting {self.most} pods")
        return None


New = GentleStart
