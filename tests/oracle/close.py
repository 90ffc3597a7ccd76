"""Closing a session: the phase of every job (spec 03 §16.1)."""

from __future__ import annotations

from .session import Session


def close(session: Session, unknown_phase: bool = False) -> None:
    """Run the plugins' close hooks, then set phases.

    The recorded phases were taken before gang's close hook marked its jobs, so they never show `Unknown`;
    `unknown_phase` follows the letter of the spec instead.
    """
    for job in session.jobs.values():
        job.marked_unschedulable = False
    for plugin in session.plugins():
        plugin.close()
    for job in session.jobs.values():
        started = job.scheduled_count() + job.releasing_count()
        finished = job.count("Succeeded", "Failed")
        if unknown_phase and job.count("Running") and job.marked_unschedulable:
            job.phase = "Unknown"
        elif started >= job.minimum and started == finished:
            job.phase = "Completed"
        elif started >= job.minimum:
            job.phase = "Running"
        elif job.phase != "Inqueue":
            job.phase = "Pending"
