"""Rather a node that keeps much of a resource free: a score that is one formula for all nodes.

    - name: headroom
      arguments:
        headroom.weight: 2
        headroom.resource: nvidia.com/gpu     # cpu if not given

The function gets all nodes at once, and a single one, as plain numbers, whenever one changes. It uses
`nodes.maths` and never `if`, so that both give the same.
"""

from __future__ import annotations

from typing import Any

from vcsched.framework.api import Arguments, Ask, Nodes, Plugin, Session


class Headroom(Plugin):
    name = "headroom"

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self.weight = args.float("headroom.weight", 1.0)
        self.resource = args.str("headroom.resource", "cpu")

    def open(self, ssn: Session) -> None:
        ssn.node_order.add(self, vector=self.score, reads="room")

    def score(self, ask: Ask, nodes: Nodes) -> Any:
        """The part of the resource that stays free, 0 to 100, times the weight."""
        maths = nodes.maths
        left = nodes.idle[self.resource] - ask.request.get(self.resource)
        return maths.maximum(maths.div(left, nodes.alloc[self.resource]), 0.0) * 100.0 * self.weight


New = Headroom
