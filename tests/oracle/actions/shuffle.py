"""shuffle: evict what the first tier with victims names (spec 04 §8)."""

from __future__ import annotations

from tests.oracle.session import Session
from tests.oracle.statement import Statement
from tests.oracle.task import Task


def shuffle(session: Session) -> None:
    running = [task for job in session.jobs.values() for task in job.tasks if task.status == "Running"]
    victims: dict[str, Task] = {}
    for tier in session.by_tier("victim_tasks"):
        for function in tier:
            victims.update({task.uid: task for task in function(running)})
        if victims:
            break
    for task in victims.values():
        statement = Statement(session)
        statement.evict(task)
        statement.commit()
