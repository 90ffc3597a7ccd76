"""The example plugins, loaded from their directory as a user would."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.harness import SessionWorld
from tests.plugins.asking import tasks
from vcsched.framework.registry import Registry
from vcsched.framework.scheduler import Scheduler

DIRECTORY = Path(__file__).parents[2] / "examples" / "plugins"


class CustomWorld(SessionWorld):
    """A world whose scheduler knows the plugins of the examples' directory."""

    @property
    def scheduler(self) -> Scheduler:
        if self._scheduler is None:
            registry = Registry(str(DIRECTORY))
            registry.load_custom()
            self._scheduler = Scheduler(self.cache, self._conf, registry=registry, seed=self._seed)
        return self._scheduler


def world_with(entry: str) -> CustomWorld:
    return CustomWorld(f'actions: "allocate"\ntiers:\n- plugins:\n  - name: gang\n  - {entry}\n')


def test_every_example_is_a_plugin_that_can_be_loaded() -> None:
    registry = Registry(str(DIRECTORY))
    registry.load_custom()

    assert {path.stem for path in DIRECTORY.glob("*.py")} <= registry.plugin_names()


def test_the_free_tier_runs_on_spot_nodes_only() -> None:
    world = world_with("name: spot_only")
    world.nodes(2, labels={"pool": ["spot", "fixed"]}, cpu=2)
    world.gang("free", pods=3, min_member=1, cpu=1, labels={"tier": "free"}, phase="Inqueue")

    world.session()

    assert list(world.binds().values()) == ["n-0", "n-0"]
    assert "node(s) not in the spot pool" in world.why("free")


def test_pods_that_differ_in_the_label_do_not_share_an_answer() -> None:
    world = world_with("name: spot_only")
    world.nodes(1, labels={"pool": "fixed"}, cpu=2)
    world.gang("free", cpu=1, labels={"tier": "free"}, phase="Inqueue")
    world.gang("paid", cpu=1, labels={"tier": "paid"}, phase="Inqueue")

    world.session()

    assert list(world.binds()) == ["default/paid-0"]


def test_headroom_prefers_the_node_that_keeps_most_of_a_resource_free() -> None:
    world = world_with("{name: headroom, arguments: {headroom.resource: memory, headroom.weight: 0.5}}")
    world.nodes(3, cpu=8, memory="8Gi")
    world.running("one", on="n-0", memory="4Gi")
    world.running("two", on="n-1", memory="1Gi")
    world.gang("new", memory="2Gi", phase="Inqueue")
    ssn = world.open()

    ask = ssn.pipeline.ask(tasks(world, "new")[0])

    assert ssn.pipeline.scores(ask, np.arange(3)).tolist() == [12.5, 31.25, 37.5]


def test_headroom_follows_every_placement() -> None:
    world = world_with("name: headroom")
    world.nodes(3, cpu=8)
    world.gang("new", pods=6, cpu=1, phase="Inqueue")

    world.session()

    assert sorted(world.binds().values()) == ["n-0", "n-0", "n-1", "n-1", "n-2", "n-2"]


def test_no_more_pods_start_on_a_node_at_once_than_allowed() -> None:
    world = world_with("{name: gentle_start, arguments: {gentle_start.pods: 2}}")
    world.nodes(1, cpu=8)
    world.gang("many", pods=5, min_member=1, cpu=1, phase="Inqueue")

    world.session()
    assert world.bound("many") == 2

    world.confirm()
    world.session()
    assert world.bound("many") == 4, "the count starts anew with each session"


def test_a_gang_that_does_not_come_off_leaves_no_start_behind() -> None:
    world = world_with("{name: gentle_start, arguments: {gentle_start.pods: 2}}")
    world.nodes(1, cpu=8)
    world.gang("too-many", pods=3, cpu=1, phase="Inqueue")
    world.gang("fits", pods=2, cpu=1, phase="Inqueue")

    world.session()

    assert world.bound("too-many") == 0
    assert world.bound("fits") == 2


@pytest.mark.parametrize("name", sorted(path.stem for path in DIRECTORY.glob("*.py")))
def test_an_example_says_in_its_first_lines_what_it_does(name: str) -> None:
    first = (DIRECTORY / f"{name}.py").read_text().splitlines()[0]

    assert first.startswith('"""')
    assert len(first) > 40
