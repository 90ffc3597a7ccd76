"""Placements a second in the session: from its open to the last bind on the link, all nodes examined.

Every repetition is a new scheduler on the same objects. What the session decides is checked to be complete,
so a fast session that forgets pods fails the benchmark.
"""

from __future__ import annotations

from benchmarks import clusters
from benchmarks.figures import Figure, Watch, duration, rate
from benchmarks.stage import Stage, binds, wire
from vcsched.simulator.world import World

PER_S = "placements/s"


def placements() -> list[Figure]:
    """10,000 equal pods: 5,000 nodes with 100 gangs of 100, and 1,000 nodes with gangs of every size."""
    return [
        _placed("5,000 nodes, 100 × 100", clusters.waiting(5_000, 100, 100), at_least=20_000, reference=193),
        _placed("1,000 nodes, 20 × 500", clusters.waiting(1_000, 20, 500), at_least=25_000, reference=323),
        _placed("1,000 nodes, 500 × 20", clusters.waiting(1_000, 500, 20), at_least=25_000, reference=291),
        _placed("1,000 nodes, 1 × 10,000", clusters.waiting(1_000, 1, 10_000), at_least=25_000, reference=209),
        _placed("1,000 nodes, 10,000 × 1", clusters.waiting(1_000, 10_000, 1), at_least=10_000, reference=246),
    ]


def different() -> list[Figure]:
    """2,000 gangs of one on 5,000 nodes, no two of which ask the same."""
    world = clusters.empty(5_000)
    for number in range(2_000):
        world.gang(f"d{number}", pods=1, cpu=f"{100 + number}m", memory=f"{256 + number}Mi")
    return [_placed("5,000 nodes, 2,000 different", world, at_least=1_000, reference=164)]


def mixed() -> list[Figure]:
    """3,000 pods with spread, anti-affinity or node affinity on 5,000 nodes with zones, racks and taints."""
    return [_placed("5,000 nodes, 3,000 mixed rules", clusters.mixed(5_000, 30, 100), at_least=3_000)]


def fresh_gang() -> list[Figure]:
    """A gang of 1,000 arrives at a quiet scheduler with 5,000 nodes: taken in and decided."""
    stage = Stage(clusters.running(5_000, 10_000, 500))
    stage.settle()
    watch = Watch()
    for number in range(5):
        world = World()
        world.gang(f"fresh{number}", pods=1_000, cpu=1, memory="1Gi")
        stage.put(wire(world.objects()))
        _expect(stage.session(watch).bound, 1_000)
        _expect(len(binds(stage.writes())), 1_000)
        stage.settle()
    return [duration("gang of 1,000 on 5,000 nodes", watch.laps, at_most_ms=100.0)]


def _placed(name: str, world: World, *, at_least: float, reference: float | None = None, times: int = 3) -> Figure:
    pods = sum(1 for _ in world.of("Pod"))
    watch = Watch()
    for _ in range(times):
        stage = Stage(world)
        with watch.measure():
            report = stage.scheduler.run_once()
        _expect(report.bound, pods)
    return rate(name, PER_S, pods, watch.laps, at_least=at_least, reference=reference)


def _expect(got: int, wanted: int) -> None:
    if got != wanted:
        raise RuntimeError(f"{got} pods were bound instead of {wanted}")
