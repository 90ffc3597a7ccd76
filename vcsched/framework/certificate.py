"""Certificates: why a job that failed need not be tried again yet (design-notes §2.11).

A session decides from the picture alone, so a job that failed would fail again while the picture stands
still. Only where chance among ties may have mattered is it tried again after a while.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from vcsched.framework.session import Session

RETRY_S = 10.0


class Certificate(NamedTuple):
    """The state of the world in which `action` had nothing for the job."""

    action: str
    changes: int
    pipeline: object  # the configuration's pipeline: another configuration is another world
    until: float

    def holds(self, action: str, ssn: Session) -> bool:
        """Whether trying the job again could not end otherwise."""
        return (
            self.action == action
            and self.changes == ssn.world.changes
            and self.pipeline is ssn.pipeline
            and ssn.now < self.until
        )
