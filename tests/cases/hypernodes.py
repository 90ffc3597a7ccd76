"""Binds counted by HyperNode, as `bindsPerHyperNode` wants them."""

from __future__ import annotations

import collections
from collections.abc import Mapping

from tests.oracle.choices import Choices
from tests.oracle.session import Session

from .loader import Case


def binds_per_hyper_node(case: Case, binds: Mapping[str, str]) -> list[int]:
    """Each bound node counts for the lowest-tier HyperNode that contains it, the root if no other does."""
    if not any(obj["kind"] == "HyperNode" for obj in case.objects):
        return []
    topology = Session(case.data, [], Choices()).topology
    counts = collections.Counter(topology.holder(node) for node in binds.values())
    return sorted(count for name, count in counts.items() if name)
