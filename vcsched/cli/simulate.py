"""`vcsched simulate`: an embedded Kubernetes API server with as many nodes as asked, for trying things out.

It prints one line when it listens and serves until SIGINT or SIGTERM. Everything is kept in memory.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import uvloop
import yaml

from vcsched.simulator.cluster import Settings, Simulation, kubeconfig, serve
from vcsched.simulator.errors import ApiError
from vcsched.simulator.fragments import number
from vcsched.simulator.kubelet import Pace
from vcsched.simulator.store import Obj
from vcsched.simulator.world import World


class Address(click.ParamType[tuple[str, int]]):
    """HOST:PORT; port 0 is any free one."""

    name = "HOST:PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        host, colon, port = str(value).rpartition(":")
        if not colon or not port.isdigit() or int(port) > 65535:
            self.fail(f"{value!r} is not HOST:PORT, for example 127.0.0.1:8001", param, ctx)
        return host or "127.0.0.1", int(port)


def _quantity(_: click.Context, param: click.Parameter, value: str) -> str:
    with contextlib.suppress(ValueError, ArithmeticError):
        if number(value) > 0:
            return value
    raise click.BadParameter(f"{value!r} is not an amount, for example {param.default}")


@click.command(epilog="Example: vcsched simulate --nodes 100 --kubeconfig-out sim.kubeconfig --load jobs.yaml")
@click.option("--listen", type=Address(), default="127.0.0.1:0", show_default=True, help="Address to serve on.")
@click.option(
    "--nodes", type=click.IntRange(min=0), default=0, show_default=True, help="How many equal nodes to start with."
)
@click.option("--node-cpu", callback=_quantity, default="32", show_default=True, help="CPU of such a node.")
@click.option("--node-memory", callback=_quantity, default="128Gi", show_default=True, help="Memory of such a node.")
@click.option(
    "--kubeconfig-out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a kubeconfig to this file.",
)
@click.option(
    "--load",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML of objects that are there from the start; may be repeated.",
)
@click.option("--run-seconds", type=float, help="How long pods run that do not say; without it they run for ever.")
@click.option("--start-seconds", default=0.1, show_default=True, help="From a pod's binding to Running.")
@click.option("--seed", default=0, show_default=True, help="For generated names, uids and faults by chance.")
def simulate(
    listen: tuple[str, int],
    nodes: int,
    node_cpu: str,
    node_memory: str,
    kubeconfig_out: Path | None,
    files: tuple[Path, ...],
    run_seconds: float | None,
    start_seconds: float,
    seed: int,
) -> None:
    """Serve a Kubernetes API from memory, with nodes and pods that run.

    kubectl and the official clients work against it. A pod's annotation simulator.vcsched.io/run-seconds says
    how long it runs, simulator.vcsched.io/exit-code how it ends.
    """
    host, port = listen
    world = World(start=datetime.now(UTC))
    if nodes:
        world.nodes(nodes, cpu=node_cpu, memory=node_memory)
    objects = [*world.objects(), *(obj for file in files for obj in read(file))]
    settings = Settings(host=host, port=port, pace=Pace(start_s=start_seconds, run_s=run_seconds), seed=seed)

    def ready(simulation: Simulation) -> None:
        url = f"http://{host}:{simulation.port}"
        if kubeconfig_out is not None:
            try:
                kubeconfig_out.write_text(kubeconfig(url))
            except OSError as error:
                raise click.ClickException(f"--kubeconfig-out {kubeconfig_out}: {error.strerror}") from None
        click.echo(f"simulator ready at {url}: {nodes} nodes, {len(objects) - nodes} objects loaded")

    try:
        uvloop.run(_until_stopped(settings, objects, ready))
    except ApiError as error:
        raise click.ClickException(f"cannot load: {error}") from None
    except OSError as error:
        raise click.ClickException(f"cannot serve on {host}:{port}: {error.strerror or error}") from None


def read(file: Path) -> list[Obj]:
    """The objects of a YAML file, those inside `List`s too. ClickException if it is no YAML."""
    try:
        documents = [each for each in yaml.load_all(file.read_text(), yaml.CSafeLoader) if each]
    except yaml.YAMLError as error:
        raise click.ClickException(f"{file}: {error}") from None
    found: list[Obj] = []
    for document in documents:
        listed = isinstance(document, dict) and str(document.get("kind", "")).endswith("List")
        found += document.get("items", []) if listed else [document]
    return found


async def _until_stopped(settings: Settings, objects: list[Obj], ready: Callable[[Simulation], None]) -> None:
    until = asyncio.Event()
    for end in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(end, until.set)
    await serve(settings, objects, ready, until)
