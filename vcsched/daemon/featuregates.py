"""Feature gates: ours, and Kubernetes' with the defaults of the connected server's version (spec 02 §1.4).

The reference links one Kubernetes release; the defaults it uses are nevertheless those of the API server it
talks to, so that a filter does not count on objects the server does not have. An explicit flag wins.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from vcsched.daemon.kube_gates import ON_FROM_MINOR
from vcsched.framework.findings import did_you_mean

OWN: Mapping[str, bool] = MappingProxyType(
    {
        "WorkLoadSupport": True,  # watch ReplicationController, ReplicaSet, StatefulSet
        "PodDisruptionBudgetsSupport": True,  # watch PodDisruptionBudgets
        "PriorityClass": True,  # with --priority-class: watch PriorityClasses
        "ResourceTopology": True,  # watch Numatopologies
        "SchedulingGatesQueueAdmission": False,  # gate manager, capacity reservations
        "CSIStorage": False,  # the name only; --csi-storage rules
        "VolcanoJobSupport": True,  # the controllers' gates, the names only
        "QueueCommandSync": True,
        "CronVolcanoJobSupport": True,
    }
)


def unknown(gates: Mapping[str, bool]) -> str:
    """What to say about the first gate that nobody declares, or nothing."""
    for name in gates:
        if name not in OWN and name not in ON_FROM_MINOR:
            return f"unknown feature gate {name}{did_you_mean(name, [*OWN, *ON_FROM_MINOR])}"
    return ""


class FeatureGates:
    """The gates in force. `AllAlpha` and `AllBeta` are accepted and change nothing here."""

    def __init__(self, explicit: Mapping[str, bool], server_minor: int) -> None:
        self._explicit = dict(explicit)
        self._minor = server_minor

    def is_on(self, name: str) -> bool:
        """Whether a gate is on; KeyError for a name that nobody declared."""
        if name in self._explicit:
            return self._explicit[name]
        if name in OWN:
            return OWN[name]
        since = ON_FROM_MINOR[name]
        return since is not None and self._minor >= since

    def all(self) -> dict[str, bool]:
        """Every gate by name."""
        return {name: self.is_on(name) for name in sorted({*OWN, *ON_FROM_MINOR})}


def server_minor(version: Mapping[str, str]) -> int:
    """The minor version in the answer of `/version`, as in `{"major": "1", "minor": "34+"}`."""
    digits = "".join(c for c in version.get("minor", "").split("+")[0] if c.isdigit())
    if not digits:
        raise ValueError(f"the API server's /version has no minor version: {dict(version)}")
    return int(digits)
