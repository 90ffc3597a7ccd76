"""Sessions in which nothing, or little, happened: their time must not grow with the cluster."""

from __future__ import annotations

import itertools
import statistics

from benchmarks import clusters
from benchmarks.figures import Figure, Spent, Watch, amount, duration, ratio
from benchmarks.stage import Stage, binds, wire
from vcsched.kube.link import QueueStatus
from vcsched.simulator.world import World

SESSIONS = 50
TURNS, CHANGED = 5, 500
SMALL, MIDDLE, LARGE = (500, 14_000, 8_700), (1_000, 20_000, 3_000), (5_000, 140_000, 87_000)


def middle() -> list[Figure]:
    """1,000 nodes, 20,000 running pods, 3,000 PodGroups."""
    stage = Stage(clusters.running(*MIDDLE))
    first = _first_writes(stage)
    [(laps, writes)] = _idle(stage)
    return [
        duration("1,000 nodes, 20,000 pods, 3,000 groups", laps, at_most_ms=10.0),
        amount("… writes and events", f"in {SESSIONS} sessions", [writes], at_most=0),
        amount("… after a restart", "in the first session", [first], at_most=0, note="all statuses are right already"),
    ]


def large() -> list[Figure]:
    """5,000 nodes, 140,000 running pods, 87,000 PodGroups, the same at a tenth, and 500 pods that come and go."""
    world = clusters.running(*LARGE)
    stage = Stage(world)
    (small, _), (laps, writes) = _idle(Stage(clusters.running(*SMALL)), stage)
    growth = statistics.median(lap.cpu_s for lap in laps) / statistics.median(lap.cpu_s for lap in small)
    return [
        duration("500 nodes, 14,000 pods, 8,700 groups", small),
        duration("5,000 nodes, 140,000 pods, 87,000 groups", laps, at_most_ms=10.0, reference_ms=16_500),
        amount("… writes and events", f"in {SESSIONS} sessions", [writes], at_most=0),
        ratio("large to small, CPU time", [growth], at_most=1.5),
        duration("500 pods ended, 500 came", _coming_and_going(stage, world), at_most_ms=100.0),
    ]


def _first_writes(stage: Stage) -> int:
    """What is written about a cluster in which everything is said already; the sums of queues do not count."""
    stage.session()
    return sum(type(message) is not QueueStatus for message in stage.writes())


def _idle(*stages: Stage) -> list[tuple[list[Spent], int]]:
    """Sessions of all stages in turn, so that they meet the same machine: their times and what they wrote."""
    for stage in stages:
        stage.settle()
    watches, writes = [Watch() for _ in stages], [0] * len(stages)
    for _ in range(SESSIONS):
        for number, stage in enumerate(stages):
            stage.session(watches[number])
            writes[number] += len(stage.writes())
            stage.pause()
    return [(watch.laps, wrote) for watch, wrote in zip(watches, writes, strict=True)]


def _coming_and_going(stage: Stage, world: World) -> list[Spent]:
    """250 gangs of two end, 250 new ones come; decided in the same session."""
    watch = Watch()
    old = itertools.islice(world.of("Pod"), TURNS * CHANGED)
    for turn in range(TURNS):
        new = World()
        for number in range(CHANGED // 2):
            new.gang(f"new{turn}-{number}", pods=2, cpu=1, memory="1Gi")
        ended = [{**pod, "status": {"phase": "Succeeded"}} for pod in itertools.islice(old, CHANGED)]
        stage.put(wire([*ended, *new.objects()]))
        stage.session(watch)
        bound = len(binds(stage.writes()))
        if bound != CHANGED:
            raise RuntimeError(f"{bound} of {CHANGED} new pods were bound")
        stage.settle()
    return watch.laps
