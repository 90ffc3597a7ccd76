"""Jobs that fit nowhere: said once, and then no work until something changes."""

from __future__ import annotations

from benchmarks import clusters
from benchmarks.figures import Figure, Watch, amount, duration
from benchmarks.stage import Stage
from vcsched.simulator.world import World

JOBS, NODES, SHAPES = 4_000, 5_000, 20
REFERENCE_MS = 8_600  # 6.7 s and 1.9 s to close, on 500 nodes


def hopeless() -> list[Figure]:
    """4,000 jobs too large for each of 5,000 nodes: the first session and the later ones."""
    first, later, writes = _sessions(SHAPES)
    different, _, _ = _sessions(JOBS)
    return [
        duration(f"{SHAPES} shapes: first session", first.laps, at_most_ms=1_000, reference_ms=REFERENCE_MS),
        duration("… later sessions", later.laps, at_most_ms=20, reference_ms=REFERENCE_MS),
        amount("… writes and events", "in 20 sessions", [writes], at_most=0),
        duration("all different: first session", different.laps, note="no gate; the reference has no cache for it"),
    ]


def _sessions(shapes: int) -> tuple[Watch, Watch, int]:
    world = _world(shapes)
    first, later = Watch(), Watch()
    for _ in range(2):
        stage = Stage(world)
        stage.session(first)
    stage.writes()
    stage.settle()
    writes = 0
    for _ in range(20):
        stage.session(later)
        writes += len(stage.writes())
        stage.pause()
    return first, later, writes


def _world(shapes: int) -> World:
    world = clusters.empty(NODES)
    for number in range(JOBS):
        cpu = f"{33_000 + number % shapes}m"  # a node has 32; overcommit admits all of them together
        world.gang(f"h{number}", pods=1, cpu=cpu, memory="1Gi")
    return world
