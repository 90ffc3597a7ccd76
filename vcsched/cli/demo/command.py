"""The command: raises the curtain, submits, watches until everything stands as it must, and sums up."""

from __future__ import annotations

import asyncio
import json
import signal
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from vcsched.cli.demo.audience import Audience, Row
from vcsched.cli.demo.stage import SchedulerProcess, submit
from vcsched.cli.demo.story import LEAST_NODES, Story
from vcsched.cli.demo.view import Plain, Terminal, summary, view_for
from vcsched.kube.client import Client
from vcsched.kube.config import Login
from vcsched.kube.errors import ApiError
from vcsched.kube.objects import Pod, PodGroup
from vcsched.kube.reflector import Reflector
from vcsched.simulator.cluster import ApiServerProcess

PATIENCE_S = 120.0
NEXT = (
    "vcsched simulate --nodes 100 --kubeconfig-out sim.kubeconfig   # a cluster to play with, for kubectl too",
    "vcsched run --kubeconfig sim.kubeconfig --enable-healthz       # the scheduler on it",
    "vcsched explain podgroup NAMESPACE/NAME                        # why something waits",
)


@click.command(epilog="Example: vcsched demo --nodes 1000 --json summary.json")
@click.option(
    "--nodes", type=click.IntRange(min=LEAST_NODES), default=300, show_default=True, help="Size of the cluster."
)
@click.option("--fast", is_flag=True, help="A tenth of the pause between sessions, and no time to watch.")
@click.option("--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Write the summary here.")
def demo(nodes: int, fast: bool, json_file: Path | None) -> None:
    """Show the scheduler at work on an embedded cluster, in under a minute.

    Gangs in two queues of weight 2 and 1, a queue at its limit, a gang that cannot fit, pods without a PodGroup
    and a ReplicaSet. Ends with status 0 only if what should be placed was placed and what should not was not.
    """
    if json_file is not None and not json_file.parent.is_dir():
        raise click.BadParameter(f"there is no directory {json_file.parent}", param_hint="--json")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # else the scheduler and its files are left behind
    console = Console()
    story = Story(nodes)
    with tempfile.TemporaryDirectory(prefix="vcsched-demo-") as folder, ApiServerProcess(story.nodes) as server:
        kubeconfig = server.write_kubeconfig(Path(folder) / "kubeconfig")
        try:
            result = asyncio.run(_perform(story, kubeconfig, console, fast))
        except ApiError as error:
            raise click.ClickException(f"the embedded API server refused: {error}") from None
    if json_file is not None:
        json_file.write_text(json.dumps(result, indent=2) + "\n")
    if not result["ok"]:
        raise SystemExit(1)


async def _perform(story: Story, kubeconfig: Path, console: Console, fast: bool) -> dict[str, Any]:
    client = Client(Login.load(str(kubeconfig)), qps=100_000, burst=100_000)
    await client.open()
    audience = Audience(story)
    following = [asyncio.create_task(Reflector(client, kind, audience.take).run()) for kind in (Pod, PodGroup)]
    try:
        with view_for(console) as view:
            began = time.monotonic()
            view.show((), f"{len(story.nodes):,} nodes; submitting {story.pods:,} pods")
            await submit(client, story.submitted)
            view.show(audience.rows(), f"submitted in {time.monotonic() - began:.1f} s; starting the scheduler")
            rows = await _watch(audience, view, kubeconfig, fast)
        return _sum_up(story, audience, rows, console)
    finally:
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        await client.close()


async def _watch(audience: Audience, view: Terminal | Plain, kubeconfig: Path, fast: bool) -> Sequence[Row]:
    """Run the scheduler until all is as it should be and stays so, or patience ends; the last state."""
    period, settled_s, look_s = ("100ms", 0.5, 0.1) if fast else ("1s", 3.0, 0.5)
    scheduler = SchedulerProcess(kubeconfig, kubeconfig.with_name("scheduler.log"), period)
    began = good_since = shown = time.monotonic()
    bound = 0
    try:
        while True:
            await asyncio.sleep(look_s)
            now = time.monotonic()
            rows = audience.rows()
            if not all(row.good and (row.reason or row.bound == row.pods) for row in rows):
                good_since = now
            if now - shown >= 1.0 or now - good_since >= settled_s:
                count = len(audience.binds)
                rate = (count - bound) / (now - shown)
                view.show(rows, f"{now - began:5.1f} s  {count:,} pods bound  {rate:,.0f} pods/s")
                shown, bound = now, count
            if ended := scheduler.ended():
                raise click.ClickException(ended)
            if now - good_since >= settled_s or now - began > PATIENCE_S:
                return rows
    finally:
        scheduler.stop()


def _sum_up(story: Story, audience: Audience, rows: Sequence[Row], console: Console) -> dict[str, Any]:
    binds = audience.binds
    took_s = binds[-1] - binds[0] if binds else 0.0
    ok = all(row.good for row in rows)
    console.print(summary(rows))
    console.print(
        f"{len(binds):,} pods bound on {len(story.nodes):,} nodes in {took_s:.1f} s, "
        f"{audience.rate():,.0f} in the best second",
        highlight=False,
    )
    if not ok:
        console.print("[red]Not everything is as it should be.[/]")
    console.print("Try next:")
    for line in NEXT:
        console.print(f"  {line}", highlight=False, markup=False, soft_wrap=True)
    return {
        "ok": ok,
        "nodes": len(story.nodes),
        "podsSubmitted": audience.submitted,
        "podsBound": len(binds),
        "bindSeconds": round(took_s, 3),
        "podsPerSecondBest": audience.rate(),
        "sets": [asdict(row) for row in rows],
    }
