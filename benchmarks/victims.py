"""Evictions: 200 pods that find room only where others run, by preempt and by reclaim."""

from __future__ import annotations

from benchmarks import clusters
from benchmarks.figures import Figure, Watch, duration
from benchmarks.stage import Stage, evictions
from vcsched.simulator.world import World

JOBS, PODS = 20, 10

PREEMPT = """\
actions: "enqueue, allocate, preempt, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: proportion}, {name: nodeorder}]
"""
RECLAIM = PREEMPT.replace("preempt", "reclaim")


def preempt() -> list[Figure]:
    """200 pods of high priority in 20 jobs on nodes full of 32 low ones each."""
    return [
        _evicting(1_000, "preempt", _preempting(1_000), at_most_ms=500, reference_ms=1_100),
        _evicting(5_000, "preempt", _preempting(5_000), at_most_ms=1_500),
    ]


def reclaim() -> list[Figure]:
    """200 pods of a queue that has nothing, on nodes full of another queue's pods."""
    return [
        _evicting(1_000, "reclaim", _reclaiming(1_000), reference_ms=500),
        _evicting(5_000, "reclaim", _reclaiming(5_000), at_most_ms=1_000),
    ]


def _preempting(nodes: int) -> World:
    world = clusters.full(nodes)
    for number in range(JOBS):
        world.gang(f"high{number}", pods=PODS, cpu=1, memory="1Gi", priority_class="high")
    return world


def _reclaiming(nodes: int) -> World:
    world = clusters.full(nodes, queue="rich")
    world.queue("poor")
    for number in range(JOBS):
        world.gang(f"poor{number}", pods=PODS, cpu=1, memory="1Gi", queue="poor", priority_class="low")
    return world


def _evicting(
    nodes: int,
    action: str,
    world: World,
    *,
    at_most_ms: float | None = None,
    reference_ms: float | None = None,
) -> Figure:
    watches: dict[str, Watch] = {}
    evicted = 0
    for _ in range(2):
        stage = Stage(world, PREEMPT if action == "preempt" else RECLAIM)
        stage.action_by_action(watches)
        evicted = len(evictions(stage.writes()))
        if evicted != JOBS * PODS:
            raise RuntimeError(f"{action}: {evicted} pods were evicted for {JOBS * PODS}")
    rest = sum(min(lap.wall_s for lap in watch.laps) for name, watch in watches.items() if name != action)
    return duration(
        f"{action} 200 of {nodes * 32:,} pods, {nodes:,} nodes",
        watches[action].laps,
        at_most_ms=at_most_ms,
        reference_ms=reference_ms,
        note=f"the action alone; the rest of the session took {rest * 1e3:.0f} ms",
    )
