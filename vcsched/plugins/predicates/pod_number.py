"""Pod number: a node takes no more pods than its allocatable `pods`.

Every pod on the node that has not ended counts, and what this session has placed there; what it has evicted
does not. Spec 06 §2.3 rule 3b.
"""

from __future__ import annotations

from typing import Any

from vcsched.framework.plugin import Ask, Nodes
from vcsched.model.status import UNSCHEDULABLE

REASON = "node(s) pod number exceeded"


def refuse(ask: Ask, nodes: Nodes, verdict: Any) -> None:
    verdict.fail(nodes.alloc["pods"] <= nodes.view_pods, REASON, UNSCHEDULABLE)
