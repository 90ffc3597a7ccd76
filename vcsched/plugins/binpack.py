"""binpack: rather the node that is fuller already, so that whole nodes stay free (spec 06 §4).

Reckons with the scheduler's own amounts, oversubscription included; room that is being freed or promised
does not count. A resource that is asked for and weighted, but that the node does not have, still thins the
score out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vcsched.framework.plugin import Plugin
from vcsched.kube.keys import CPU, MEMORY
from vcsched.model.algebra import tolerance
from vcsched.model.resources import in_order

if TYPE_CHECKING:
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.plugin import Ask, Nodes
    from vcsched.framework.session import Session

MAX_SCORE = 100.0


class Binpack(Plugin):
    """`weights` by resource, in the order in which they are added up."""

    name = "binpack"

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self.weight = args.int("binpack.weight", 1)
        listed = [name.strip() for name in args.str("binpack.resources").split(",")]
        given = {name: _weight(args, f"binpack.resources.{name}") for name in listed if name}
        given |= {name: _weight(args, f"binpack.{name}") for name in (CPU, MEMORY)}
        self.weights = {name: given[name] for name in in_order(given)}

    def open(self, ssn: Session) -> None:
        if self.weight:
            ssn.node_order.add(self, vector=self.score, reads="room")

    def score(self, ask: Ask, nodes: Nodes) -> Any:
        """How full the node would be, 0 to 100 times the weight; 0 where the pod does not fit."""
        maths = nodes.maths
        used, alloc = nodes.used, nodes.alloc
        total: Any = 0.0
        fits: Any = True
        weights = 0
        for name, weight in self.weights.items():
            asked = ask.request.get(name)
            if asked < tolerance(name):
                continue
            weights += weight
            if not weight:
                continue
            whole = alloc[name]
            filled = used[name] + asked
            has = whole != 0
            total = total + maths.where(has, maths.div(filled * weight, whole), 0.0)
            fits = maths.both(fits, maths.no(maths.both(has, filled > whole)))
        if not weights:
            return 0.0
        return maths.where(fits, total / weights * MAX_SCORE * self.weight, 0.0)


def _weight(args: Arguments, key: str) -> int:
    """A weight; below 0 counts as 1."""
    weight = args.int(key, 1)
    return weight if weight >= 0 else 1
