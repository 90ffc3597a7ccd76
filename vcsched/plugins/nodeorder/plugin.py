"""nodeorder: the scores of the Kubernetes scheduler, each with a weight of its own (spec 06 §3).

All but image locality are scores of Kubernetes' batch kind: whole numbers from 0 to 100 over the candidates,
times the weight. They reckon with what Kubernetes sees of a node, not with oversubscription or promises.
A weight of 0 takes a score away; a negative one turns it round.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.framework.plugin import Plugin
from vcsched.plugins.nodeorder import podaffinity, podspread
from vcsched.plugins.nodeorder.balanced import Balanced
from vcsched.plugins.nodeorder.images import ImageLocality
from vcsched.plugins.nodeorder.nodeaffinity import NodeAffinity
from vcsched.plugins.nodeorder.resources import LeastAllocated, MostAllocated
from vcsched.plugins.nodeorder.taints import TaintToleration

if TYPE_CHECKING:
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session

_SCORERS = (
    ("leastrequested", 1, LeastAllocated),
    ("mostrequested", 0, MostAllocated),
    ("balancedresource", 1, Balanced),
    ("nodeaffinity", 2, NodeAffinity),
    ("tainttoleration", 3, TaintToleration),
    ("imagelocality", 1, ImageLocality),
)


class NodeOrder(Plugin):
    """The scorers live as long as the plugin, so that what they have scored can be kept."""

    name = "nodeorder"

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        weights = [(scorer, args.int(f"{key}.weight", default)) for key, default, scorer in _SCORERS]
        self._scorers = [scorer(weight) for scorer, weight in weights if weight]
        self._pod_affinity = args.int("podaffinity.weight", 2)
        self._pod_spread = args.int("podtopologyspread.weight", 2)

    def open(self, ssn: Session) -> None:
        for scorer in self._scorers:
            scorer.register(self, ssn)
        if self._pod_affinity:
            podaffinity.register(self, ssn, self._pod_affinity)
        if self._pod_spread:
            podspread.register(self, ssn, self._pod_spread)
