"""A thousand queues in a tree: what their shares cost a session."""

from __future__ import annotations

from benchmarks.clusters import SCHEDULED
from benchmarks.figures import Figure, Watch, duration
from benchmarks.stage import Stage, wire
from vcsched.simulator.fragments import Amount
from vcsched.simulator.world import World

JOBS = 20_000
NODES = 1_000
PER_PARENT = 10  # 1 root, 10, 100 and 1,000: depth 4 with the root

CONF = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins: [{name: priority}, {name: gang}, {name: conformance}]
- plugins: [{name: predicates}, {name: capacity, enabledHierarchy: true}, {name: nodeorder}]
"""


def tree() -> list[Figure]:
    """1,000 leaf queues, 20,000 running jobs: opening a session (where shares are reckoned), and all of one in
    which a single job is new."""
    world, leaves = _world()
    stage = Stage(world, CONF)
    stage.settle()
    watches: dict[str, Watch] = {}
    whole = Watch()
    for number in range(10):
        new = World()
        new.gang(f"new{number}", pods=1, cpu=1, memory="1Gi", queue=leaves[number])
        stage.put(wire(new.objects()))
        stage.action_by_action(watches) if number % 2 else stage.session(whole)
        stage.writes()
        stage.settle()
    return [
        duration("1,000 queues, 20,000 jobs: open a session", watches["open"].laps, at_most_ms=20.0),
        duration("… a whole session with one new job", whole.laps),
    ]


def _world() -> tuple[World, list[str]]:
    world = World()
    world.nodes(NODES, cpu=32, memory="128Gi")
    world.queue("root")
    level = ["root"]
    for _ in range(3):
        below = [f"{parent}-{index}".removeprefix("root-") for parent in level for index in range(PER_PARENT)]
        share: dict[str, Amount] = {"cpu": NODES * 32 / len(below), "memory": f"{NODES * 128 * 1024 // len(below)}Mi"}
        for number, name in enumerate(below):
            world.queue(name, parent=level[number // PER_PARENT], deserved=share)
        level = below
    for number in range(JOBS):
        gang = world.running(f"r{number}", on=f"n-{number % NODES}", queue=level[number % len(level)], cpu=1)
        gang.group["status"] |= {"running": 1, "conditions": [SCHEDULED]}
    return world, level
