"""What tests of plugins need: a world with a chosen configuration, and questions to a plugin alone."""

from __future__ import annotations

from tests.harness import SessionWorld
from vcsched.model.task import Task


def world_with(*plugins: str, actions: str = "allocate", **settings: object) -> SessionWorld:
    """A world whose configuration has one tier with these plugins; `settings` go beside the tiers.

    A plugin may be given with arguments: `overcommit {overcommit-factor: 2}`.
    """
    entries = []
    for plugin in plugins:
        name, _, arguments = plugin.partition(" ")
        entries.append(f"  - name: {name}" + (f"\n    arguments: {arguments}" if arguments else ""))
    extra = "\n".join(f"{key}: {value}" for key, value in settings.items())
    return SessionWorld(f'actions: "{actions}"\n{extra}\ntiers:\n- plugins:\n' + "\n".join(entries) + "\n")


def metric(world: SessionWorld, series: str) -> float:
    """The value of a series, named as `/metrics` has it. KeyError if there is none."""
    for line in world.scheduler.metrics.exposition().decode().splitlines():
        name, _, value = line.rpartition(" ")
        if name == series:
            return float(value)
    raise KeyError(series)


def tasks(world: SessionWorld, gang: str) -> list[Task]:
    """The tasks of a gang, in the order of their pods."""
    return list(world.job(gang).tasks.values())
