"""rescheduling: now and then, pods leave nodes that are too busy for others that are not (spec 05 §16)."""

from vcsched.plugins.rescheduling.plugin import Rescheduling

__all__ = ["Rescheduling"]
