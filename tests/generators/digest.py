"""Everything that a session may move, as one value: equal digests mean that nothing was moved, to the bit."""

from __future__ import annotations

import hashlib
from typing import Any

from vcsched.cache.cache import SchedulerCache
from vcsched.cache.picture import Picture
from vcsched.columns.table import Table


def digest(cache: SchedulerCache) -> dict[str, Any]:
    """Hashes of all tables, and the plain values of tasks, jobs and index sets."""
    picture = cache.picture
    return {
        "tables": [_table(table) for table in (picture.nodes, picture.job_table, picture.queue_table)],
        "tasks": {
            uid: (t.status, t.node, t.hidden, t.after_eviction, t.op, t.hypernode) for uid, t in picture.tasks.items()
        },
        "nodes": {name: set(node.tasks) for name, node in picture.nodes_by_name.items()},
        "jobs": {key: _job(job) for key, job in picture.jobs.items()},
        "sets": _sets(picture),
    }


def _table(table: Table) -> dict[str, str]:
    return {
        name: hashlib.sha256(getattr(table, name).tobytes()).hexdigest() for name in (*table.AMOUNTS, *table.NUMBERS)
    }


def _job(job: Any) -> tuple[Any, ...]:
    return (
        list(job.counts), {key: list(counts) for key, counts in job.role_counts.items()},
        {key: (list(sub.counts), set(sub.tasks)) for key, sub in job.subjobs.items()},
        set(job.pending), job.placeable, job.gated_count, job.releasing_placed, job.contribution, job.phase,
    )  # fmt: skip


def _sets(picture: Picture) -> dict[str, set[str]]:
    return {name: set(getattr(picture, name)) for name in ("attached", "waiting_admission", "placeable", "best_effort")}
