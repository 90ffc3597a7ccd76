"""What is wrong or doubtful in a configuration, and where."""

import difflib
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]

NOT_YET = frozenset(
    (
        "gangpreempt",
        "gangreclaim",
        "deviceshare",
        "extender",
        "network-topology-aware",
        "nodegroup",
        "numa-aware",
        "resource-strategy-fit",
        "task-topology",
        "usage",
    )
)
"""Actions and plugins of the reference that are not built; a user's file may rightly name them."""


class Finding(NamedTuple):
    """One thing to say about a place of a text; lines and columns count from 1.

    `refuses` tells whether the whole text is refused because of it; other errors cost only the part they
    name (an unknown plugin is skipped).
    """

    line: int
    column: int
    severity: Severity
    message: str
    refuses: bool = False

    def __str__(self) -> str:
        return f"{self.line}:{self.column} {self.severity} {self.message}"


class ConfigurationError(ValueError):
    """A text that cannot be put in force; `findings` holds everything that was found in it."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        refusing = [finding for finding in self.findings if finding.refuses]
        super().__init__("; ".join(f"line {f.line}, column {f.column}: {f.message}" for f in refusing))


def did_you_mean(name: str, known: Collection[str]) -> str:
    """` (did you mean X?)` where a known name is near, else nothing; a name of the reference is no slip."""
    if name in NOT_YET:
        return " (the reference has it, vcsched not yet)"
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""
