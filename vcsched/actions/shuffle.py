"""shuffle: plugins name running tasks that should go elsewhere, and they are evicted (spec 04 §8).

Critical pods stay, whoever names them (design-notes §7 row 7).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vcsched.framework.victims import is_critical, is_refused
from vcsched.model.status import RUNNING

if TYPE_CHECKING:
    from vcsched.framework.session import Session


class Shuffle:
    name = "shuffle"

    def execute(self, ssn: Session) -> None:
        if not ssn.victim_tasks:
            return
        on_nodes = (task for node in ssn.nodes.values() for task in node.tasks.values())
        running = [t for t in on_nodes if t.status == RUNNING and t.job is not None and t.job.attached]
        protective = ssn.compat.victim_veto == "protective"
        statement = ssn.statement()
        for task in ssn.victim_tasks(running):
            if task.status == RUNNING and not (protective and is_critical(task)) and not is_refused(ssn, task):
                statement.evict(task, self.name)
        statement.commit()
