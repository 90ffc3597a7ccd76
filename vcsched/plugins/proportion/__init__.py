"""proportion: queues share the cluster by weight, and take what others leave (spec 05 §7)."""

from vcsched.plugins.proportion.plugin import Proportion

__all__ = ["Proportion"]
