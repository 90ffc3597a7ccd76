"""Finding feasible nodes and choosing among them (spec 03 §8-9, 04 §2.5-2.6)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from .choices import best
from .node import Node
from .points import Reasons
from .resources import fits, lacking
from .task import Task

if TYPE_CHECKING:
    from .session import Session

# status codes (spec 06 §0.1)
ERROR, UNSCHEDULABLE, UNRESOLVABLE = 1, 2, 3
CODE_NAMES = {ERROR: "Error", UNSCHEDULABLE: "Unschedulable", UNRESOLVABLE: "UnschedulableAndUnresolvable"}

Check = Callable[["Session", Task, Node], Reasons]


class ErrorCache:
    """What failed for a role of a job is not asked again for its next task (03 §8.5); one a search run."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        self.failed: dict[tuple[str, str], dict[str, Reasons]] = {}


def cache_enabled(session: Session, action: str) -> bool:
    value = session.argument(action, "predicateErrorCacheEnable", True)
    return value if isinstance(value, bool) else True


# ---- what an action asks of a node (spec 04 §2.5)


def with_resources(session: Session, task: Task, node: Node) -> Reasons:
    """allocate: room now or later, then the predicates."""
    missing = lacking(task.request, node.future_idle())
    if missing:
        return [(UNSCHEDULABLE, f"Insufficient {missing[0]}")]
    return session.predicate(task, node)


def predicates_only(session: Session, task: Task, node: Node) -> Reasons:
    """backfill: the predicates."""
    return session.predicate(task, node)


def for_eviction(session: Session, task: Task, node: Node) -> Reasons:
    """preempt and reclaim: a plainly unschedulable node may become free by evictions (spec 03 §7.6)."""
    reasons = session.predicate(task, node)
    return reasons if any(code != UNSCHEDULABLE for code, _ in reasons) else []


def for_gang_trial(session: Session, task: Task, node: Node) -> Reasons:
    """gang actions: room now or later, then as for evictions (spec 04 §9.5)."""
    missing = lacking(task.request, node.future_idle())
    if missing:
        return [(UNSCHEDULABLE, f"Insufficient {missing[0]}")]
    return for_eviction(session, task, node)


# ---- search and choice


def feasible(
    session: Session, task: Task, names: Iterable[str], check: Check, cache: ErrorCache
) -> tuple[list[str], dict[str, Reasons]]:
    """The nodes that pass, and why the others do not."""
    key = (task.job_key, task.role)
    known = cache.failed.get(key, {}) if cache.enabled and task.role else {}
    known = dict(known)
    passing: list[str] = []
    errors: dict[str, Reasons] = {}
    for name in names:
        if name in known:
            errors[name] = known[name]
            continue
        if session.shard_mode == "hard" and name not in session.nodes_in_shard:
            reasons = [(ERROR, "node isn't in scheduler node shard")]
        else:
            reasons = check(session, task, session.nodes[name])
        if reasons:
            cache.failed.setdefault(key, {})[name] = reasons
            errors[name] = reasons
        else:
            passing.append(name)
    return passing, errors


def scores(session: Session, task: Task, names: list[str]) -> dict[str, float]:
    """Sum of all scores of each node (spec 03 §9.2-9.4)."""
    totals = dict.fromkeys(names, 0.0)
    for name in names:
        for function in session.functions("node_order"):
            totals[name] += function(task, session.nodes[name])
    for function in session.functions("batch_node_order"):
        for name, score in (function(task, [session.nodes[name] for name in names]) or {}).items():
            totals[name] += score
    return totals


def best_node(session: Session, task: Task, names: list[str]) -> str:
    return session.choices.node(task.key, best(scores(session, task, names)))


def by_shard(session: Session, names: list[str]) -> list[list[str]]:
    """In soft sharding the own shard comes first (spec 03 §17)."""
    if session.shard_mode != "soft":
        return [names]
    inside = [name for name in names if name in session.nodes_in_shard]
    return [inside, [name for name in names if name not in session.nodes_in_shard]]


def choose(session: Session, task: Task, names: list[str]) -> str | None:
    """Idle room beats any score; a single candidate is not scored (spec 04 §2.6)."""
    now = [name for name in names if fits(task.request, session.nodes[name].idle)]
    later = [name for name in names if name not in now and fits(task.request, session.nodes[name].future_idle())]
    for group in by_shard(session, now) + by_shard(session, later):
        if len(group) == 1:
            return group[0]
        if group:
            return best_node(session, task, group)
    return None


def not_unresolvable(session: Session, task: Task) -> list[str]:
    """Nodes whose last failure an eviction could mend (spec 04 §2.5)."""
    job = session.jobs.get(task.job_key)
    errors = job.fit_errors.get(task.uid) if job else None
    if not errors:
        return session.order
    return [name for name in session.order if all(code != UNRESOLVABLE for code, _ in errors.get(name, []))]
