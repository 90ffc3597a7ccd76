"""Where pods would rather be: the scores of the Kubernetes scheduler (spec 06 §3)."""

from vcsched.plugins.nodeorder.plugin import NodeOrder

__all__ = ["NodeOrder"]
