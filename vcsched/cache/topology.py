"""Topology domains of the node rows: which rows share a zone, a rack, a host, and which of them count.

Kept until a node comes, goes or changes its labels or taints, then made anew when somebody reads them.
Spec 06 §2.12, §2.16 rule 3, §3.7 rule 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from vcsched.columns.counters import Clock, Domains, Numbers
from vcsched.columns.table import BoolArray
from vcsched.model.form import Form
from vcsched.model.node_affinity import evaluate, rule_of
from vcsched.model.taints import untolerated

if TYPE_CHECKING:
    from vcsched.cache.picture import Picture
    from vcsched.kube.objects import Taint
    from vcsched.model.node import Node

MOST_READERS = 2000  # sums kept over one partition: at 5,000 nodes 40 kB each


class Inclusion(NamedTuple):
    """On which rows a spread constraint counts.

    Those that have all `keys`, and by its policies those that the pod's node selector and affinity mean and
    whose taints it tolerates.
    """

    keys: tuple[str, ...]
    honors_affinity: bool
    honors_taints: bool


class Topology:
    """Partitions of the rows, by label key; `changed` is the clock's number of the last change of nodes."""

    def __init__(self, picture: Picture, clock: Clock) -> None:
        self._picture = picture
        self._clock = clock
        self._domains: dict[object, Domains] = {}
        self.changed = 0

    def nodes_changed(self) -> None:
        """A node came, went, or has other labels or taints."""
        self.forget_sums()
        self._domains.clear()
        self.changed = self._clock.tick()

    def forget_sums(self) -> None:
        """Let go of all sums that counters keep; the next reader makes its own anew."""
        for domains in self._domains.values():
            domains.forget_sums()

    def by_label(self, key: str) -> Domains:
        """Rows with the same value of a label are one domain; rows without it belong to none."""
        return self._kept(key) or self._keep(key, *self._of_label(key))

    def by_row(self) -> Domains:
        """Each row is a domain of its own."""
        n = self._picture.nodes.n
        return self._kept(None) or self._keep(None, np.arange(n, dtype=np.intp), n)

    def by_counted_label(self, key: str, form: Form, inclusion: Inclusion) -> Domains:
        """`by_label`, without the rows that `inclusion` leaves out for pods of this form."""
        asks_affinity = inclusion.honors_affinity and rule_of(form).restricts
        who = form if asks_affinity or inclusion.honors_taints else None
        name = (key, who, inclusion)
        kept = self._kept(name)
        if kept is not None:
            return kept
        every = self.by_label(key)
        return self._keep(name, np.where(self._included(form, inclusion), every.of, -1), every.size)

    def verify(self) -> None:
        """Compare the partitions by label with the nodes, and all kept sums with their counters."""
        for name, domains in self._domains.items():
            if isinstance(name, str):
                column = self._picture.label(name)
                for row, node in enumerate(self._picture.node_at):
                    value = None if node is None else node.labels.get(name)
                    domain = int(domains.of[row])
                    kept = column.values[domain] if domain >= 0 else None
                    if kept != value:
                        raise AssertionError(f"{name} of row {row}: kept {kept}, recomputed {value}")
            domains.verify()

    def _kept(self, name: object) -> Domains | None:
        domains = self._domains.get(name)
        if domains is not None and domains.readers > MOST_READERS:
            domains.forget_sums()
        return domains

    def _keep(self, name: object, of: Numbers, size: int) -> Domains:
        of[~self._picture.nodes.alive[: len(of)]] = -1
        domains = self._domains[name] = Domains(of, size)
        return domains

    def _of_label(self, key: str) -> tuple[Numbers, int]:
        column = self._picture.label(key)
        none = column.intern(None)
        of = column.ids[: self._picture.nodes.n].astype(np.intp)
        of[of == none] = -1
        return of, len(column.values)

    def _included(self, form: Form, inclusion: Inclusion) -> BoolArray:
        picture = self._picture
        rows = slice(0, picture.nodes.n)
        mask: BoolArray = np.ones(picture.nodes.n, dtype=np.bool_)
        for key in inclusion.keys:
            mask &= self.by_label(key).of >= 0
        if inclusion.honors_affinity:
            mask = evaluate(
                rule_of(form),
                mask,
                lambda part: picture.label(part.key).select(rows).where(part.accepts),
                lambda part: picture.attribute(_name).select(rows).where(part.accepts),
            )
        if inclusion.honors_taints:
            tolerations = form.spec.tolerations
            taints = picture.attribute(_taints).select(rows)
            mask = mask & taints.where(lambda those: untolerated(those or (), tolerations) is None)
        return mask


def _name(node: Node) -> str:
    return node.name


def _taints(node: Node) -> tuple[Taint, ...]:
    return node.obj.spec.taints
