"""Predicates: the filters of Kubernetes, as columns. One module a filter, put together in `plugin`."""

from vcsched.plugins.predicates.plugin import Predicates

__all__ = ["Predicates"]
