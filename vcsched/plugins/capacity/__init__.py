"""capacity: queues have a guarantee, a deserved amount and a capability, alone or in a tree (spec 05 §8-9)."""

from vcsched.plugins.capacity.plugin import Capacity

__all__ = ["Capacity"]
