"""A resource that no node offers is no matter of queues: whoever refuses a job for it says so."""

from __future__ import annotations

import pytest

from tests.harness import SessionWorld
from tests.plugins.capacity.worlds import world_of
from vcsched.framework.conf_loader import BUILT_IN

GPU = {"nvidia.com/gpu": 1}
WITHOUT_OVERCOMMIT = BUILT_IN.replace("- name: overcommit", "- name: conformance")
WORLDS = {
    "proportion": lambda: SessionWorld(WITHOUT_OVERCOMMIT),
    "overcommit": lambda: SessionWorld(BUILT_IN),
    "capacity": world_of,
}


@pytest.mark.parametrize("plugin", WORLDS)
@pytest.mark.parametrize("phase", [None, "Inqueue"])
def test_who_asks_for_what_no_node_offers_is_told_so(plugin: str, phase: str | None) -> None:
    world = WORLDS[plugin]()
    world.nodes(2, cpu=8)
    world.queue("q")
    world.gang("trains", queue="q", cpu=1, phase=phase, requests=GPU)

    world.session()

    assert world.bound("trains") == 0
    assert world.why("trains") == "no node offers nvidia.com/gpu; add one that does"


@pytest.mark.parametrize("plugin", WORLDS)
def test_where_there_is_no_node_nothing_else_is_said(plugin: str) -> None:
    world = WORLDS[plugin]()
    world.queue("q")
    world.gang("waits", queue="q", cpu=1)

    world.session()

    assert world.why("waits") == "there is no node"


@pytest.mark.parametrize("plugin", WORLDS)
def test_a_queue_that_may_have_none_of_what_some_node_offers_is_named(plugin: str) -> None:
    world = WORLDS[plugin]()
    world.nodes(1, cpu=8, resources=GPU)
    world.queue("q", capability={"cpu": 4, **dict.fromkeys(GPU, 0)})
    world.gang("trains", queue="q", cpu=1, requests=GPU)

    world.session()

    assert world.bound("trains") == 0
    assert "no node offers" not in world.why("trains")
