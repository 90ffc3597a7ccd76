"""A form: what a pod asks of a node, apart from its labels; and a shape: a form and what its labels match.

Pods of one template share a form, so a filter or score is computed once for all of them. Labels are not
part of it, since every pod of a job controller has a unique index label; what the labels match among the
selectors somebody asks about is the second half of a shape (design-notes D9, §2.6).
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vcsched.kube.objects import PodSpec
    from vcsched.model.task import Request


class Form:
    """Interned; identity is equality. `spec` is the pod spec of the first pod seen with this form.

    `extra` holds what enabled plugins declared with `shape_key`. Compiled rules are kept here by the
    plugins that need them through `compiled`, so a rule is parsed once per form.
    """

    def __init__(self, namespace: str, request: Request, spec: PodSpec, extra: tuple[Hashable, ...]) -> None:
        self.namespace = namespace
        self.request = request
        self.spec = spec
        self.extra = extra
        self._compiled: dict[Any, Any] = {}

    def compiled(self, make: Any) -> Any:
        """`make(self)`, called once per form; `make` is a module-level function."""
        found = self._compiled.get(make)
        if found is None:
            found = self._compiled[make] = make(self)
        return found

    @cached_property
    def needs_unbuilt(self) -> str:
        """Why a pod of this form cannot be placed by this version, or "": never placed wrongly, always told."""
        if self.spec.resource_claims:
            return "resource claims (DRA) are not supported yet"
        for volume in self.spec.volumes:
            if volume.persistent_volume_claim is not None or volume.ephemeral is not None:
                return f"volume {volume.name} needs a persistent volume claim, which is not supported yet"
        return ""


class Shape:
    """A form and a match. `match` is the set of registered selectors (by number) that the pod's labels meet."""

    __slots__ = ("form", "match", "request")

    def __init__(self, form: Form, match: frozenset[int]) -> None:
        self.form = form
        self.match = match
        self.request = form.request
