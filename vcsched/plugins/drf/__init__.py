"""Dominant resource fairness: among jobs, the one with the smallest share goes first (spec 05 §6)."""

from vcsched.plugins.drf.plugin import Drf

__all__ = ["Drf"]
