"""tdm: nodes that are lent to the cluster for some hours of the day (spec 05 §14-15)."""

from vcsched.plugins.tdm.plugin import Tdm

__all__ = ["Tdm"]
