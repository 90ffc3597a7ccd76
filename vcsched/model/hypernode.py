"""Hypernodes: domains of nodes that are close to each other, such as a rack.

Only the virtual root exists so far: it contains every node, and a job without topology is placed in it,
so that the flat way is "the domain root" (spec 03 §2.1).
"""

from __future__ import annotations

ROOT = "<cluster-top-hypernode>"


def common_ancestor(a: str, b: str) -> str:
    """The lowest hypernode above both; an empty side gives the other (spec 03 §2.3)."""
    if not a or not b:
        return a or b
    return a if a == b else ROOT
