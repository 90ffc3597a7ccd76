"""resourcequota: admit no gang whose pods a ResourceQuota of its namespace would refuse (spec 05 §11.3).

What the quotas say is used, what this session has admitted and what the job's minimum asks must not exceed
what is allowed. Names are compared as they are written: a quota on `requests.cpu` does not meet a minimum of
`cpu`. Scopes are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from vcsched.framework.explain import joined
from vcsched.framework.notices import Notices
from vcsched.framework.plugin import PERMIT, REJECT, Plugin
from vcsched.model import resources
from vcsched.model.quantity import QuantityError, exact

if TYPE_CHECKING:
    from vcsched.framework.arguments import Arguments
    from vcsched.framework.session import Session
    from vcsched.kube.objects import Quantity, ResourceQuota
    from vcsched.model.job import Job

Amounts = dict[str, Fraction]
_NONE = Fraction(0)


class Excess(NamedTuple):
    """A resource of a quota of which too much is asked; quantities as they are written."""

    name: str
    asked: Quantity
    used: Quantity
    hard: Quantity


class QuotaAdmission(Plugin):
    name = "resourcequota"

    _ssn: Session

    def __init__(self, args: Arguments) -> None:
        super().__init__(args)
        self._notices = Notices()

    def open(self, ssn: Session) -> None:
        self._ssn = ssn
        self._notices.begin()
        self._admitted: dict[str, Amounts] = {}  # namespace -> admitted in this session
        ssn.job_enqueueable.add(self, self.vote)
        ssn.job_enqueued.add(self, self.admit)

    def vote(self, job: Job) -> int:
        """Whether every quota of the namespace has room for the job's minimum."""
        for name, quota in sorted(self._ssn.world.quotas.get(job.namespace, {}).items()):
            found = self._excesses(job, quota)
            if found:
                self._tell(job, name, found)
                return REJECT
        return PERMIT

    def admit(self, job: Job) -> None:
        """From now on the job's minimum is taken in its namespace."""
        pending = self._admitted.setdefault(job.namespace, {})
        for name, amount in read(minimum_of(job)).items():
            pending[name] = pending.get(name, _NONE) + amount

    def _excesses(self, job: Job, quota: ResourceQuota) -> list[Excess]:
        listed, status = minimum_of(job), quota.status
        hard, used = read(status.hard), read(status.used)
        pending = self._admitted.get(job.namespace, {})
        return [
            Excess(name, listed[name], status.used.get(name, "0"), status.hard[name])
            for name, amount in read(listed).items()
            if name in hard and used.get(name, _NONE) + pending.get(name, _NONE) + amount > hard[name]
        ]

    def _tell(self, job: Job, quota: str, found: list[Excess]) -> None:
        asked, used, hard = (
            ",".join(f"{name}={quantity}" for name, quantity in zip((e.name for e in found), column, strict=True))
            for column in ([e.asked for e in found], [e.used for e in found], [e.hard for e in found])
        )
        numbers = " · ".join(
            f"{e.name} {_human(e.name, e.used)} of {_human(e.name, e.hard)} used, {_human(e.name, e.asked)} asked"
            for e in found
        )
        sentence = f"quota {quota} of namespace {job.namespace} full: {numbers}"
        self._ssn.refuse(job, "admission", sentence)
        text = f"resource quota insufficient, requested: {asked}, used: {used}, limited: {hard}"
        if self._notices.is_due(job.uid or job.key, text, self._ssn.now):
            self._ssn.event(job, "Normal", "Unschedulable", joined(text, sentence))


def minimum_of(job: Job) -> Mapping[str, Quantity]:
    """`spec.minResources` as it is written; empty if nothing is said."""
    return (job.obj.spec.min_resources if job.obj is not None else None) or {}


def read(quantities: Mapping[str, Quantity]) -> Amounts:
    """The amounts that can be read, in order of their names; what cannot be read limits and asks nothing."""
    amounts: Amounts = {}
    for name in sorted(quantities):
        try:
            amounts[name] = exact(quantities[name])
        except QuantityError:
            continue
    return amounts


def _human(name: str, quantity: Quantity) -> str:
    """A quantity as people write it; names that only quotas know, such as `count/pods`, as it is written."""
    resource = name.removeprefix("requests.").removeprefix("limits.")
    amount = resources.amounts({resource: quantity}).get(resource)
    return str(quantity) if amount is None else resources.human(resource, amount)
