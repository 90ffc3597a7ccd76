"""`--profile`: the cost of a placement by stage, and flame graphs of a busy and of an idle session.

The graphs are pyinstrument's HTML, to be opened in a browser, and the same as text. They come from sessions of
their own, so profiling does not disturb the figures.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from benchmarks import clusters
from benchmarks.figures import Watch
from benchmarks.stage import Stage
from benchmarks.stages import STAGES, Samples
from vcsched.simulator.world import World

REPETITIONS = 5
IDLE_SESSIONS = 2_000
BUSY: dict[str, Callable[[], World]] = {
    "5,000 nodes, 100 × 100": lambda: clusters.waiting(5_000, 100, 100),
    "1,000 nodes, 20 × 500": lambda: clusters.waiting(1_000, 20, 500),
    "1,000 nodes, 10,000 × 1": lambda: clusters.waiting(1_000, 10_000, 1),
    "5,000 nodes, 3,000 mixed rules": lambda: clusters.mixed(5_000, 30, 100),
}


def write(console: Console, folder: Path) -> None:
    """Print the split and write stages.json, busy.html and idle.html."""
    folder.mkdir(parents=True, exist_ok=True)
    table = Table(box=None, pad_edge=False, header_style="dim", title="µs of CPU a placement, by stage", title_style="")
    table.add_column("")
    for column in ("all", *STAGES):
        table.add_column(column, justify="right")
    kept = {}
    for name, make in BUSY.items():
        kept[name] = found = split(make())
        costs = found["us"]
        assert isinstance(costs, dict)
        table.add_row(name, f"{sum(costs.values()):.1f}", *(f"{costs[stage]:.1f}" for stage in STAGES))
    console.print()
    console.print(table)
    (folder / "stages.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    _flame_graph(folder / "busy.html", _busy)
    _flame_graph(folder / "idle.html", _idle)
    console.print(f"flame graphs: {folder / 'busy.html'}, {folder / 'idle.html'}")


def split(world: World, repetitions: int = REPETITIONS) -> dict[str, object]:
    """CPU time of a placement in µs by stage, and the functions met most."""
    pods = sum(1 for _ in world.of("Pod"))
    samples, watch = Samples(), Watch()
    for _ in range(repetitions):
        stage = Stage(world)
        with samples.taken(), watch.measure():
            stage.scheduler.run_once()
    mean_us = sum(lap.cpu_s for lap in watch.laps) / repetitions / pods * 1e6
    return {
        "us": {stage: share * mean_us for stage, share in samples.shares().items()},
        "samples": sum(samples.stages.values()),
        "functions": {
            name: round(count / sum(samples.functions.values()), 3) for name, count in samples.functions.most_common(25)
        },
    }


def _busy() -> Callable[[], object]:
    stage = Stage(clusters.waiting(5_000, 100, 100))
    return stage.scheduler.run_once


def _idle() -> Callable[[], object]:
    stage = Stage(clusters.running(1_000, 20_000, 3_000))
    stage.settle()

    def sessions() -> None:
        for _ in range(IDLE_SESSIONS):
            stage.session()

    return sessions


def _flame_graph(path: Path, prepare: Callable[[], Callable[[], object]]) -> None:
    try:
        from pyinstrument import Profiler
    except ImportError as error:
        raise click.ClickException("flame graphs need pyinstrument: pip install -e '.[bench]'") from error
    work = prepare()
    profiler = Profiler(interval=0.0005)
    with profiler:
        work()
    path.write_text(profiler.output_html())
    path.with_suffix(".txt").write_text(profiler.output_text(unicode=True, show_all=False))
