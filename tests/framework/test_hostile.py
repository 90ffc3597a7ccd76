"""Hostile objects through the whole path: decode, drain, session. Nothing ends early and nothing else is lost."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.generators import hostile
from tests.generators.effort import examples
from tests.generators.faults import no_faults
from tests.harness import KIND_OF, SessionWorld
from vcsched.cache.verify import verify
from vcsched.kube.known import Known
from vcsched.kube.objects import KINDS
from vcsched.simulator.world import World


class Reception:
    """A session world whose objects are read as the I/O side reads them, refusals included."""

    def __init__(self) -> None:
        self.world = SessionWorld()
        self.world.nodes(2, prefix="healthy", cpu=64)
        self.world.gang("healthy", pods=3, cpu=1, min_resources=None, namespace="apart", queue="healthy")
        self.world.queue("healthy", guarantee={"cpu": 8})  # whatever weight others claim
        self.world.sync()
        self.known = {kind: Known(kind, self.world.cache.link.put) for kind in KINDS}

    def take(self, obj: dict[str, Any]) -> None:
        self.known[KIND_OF[obj["kind"]]].upsert(json.dumps(obj).encode())
        self.world.cache.drain()


@examples(100)
@given(st.lists(hostile.objects, min_size=1, max_size=15), st.booleans())
def test_no_object_breaks_the_path_and_the_healthy_gang_is_bound(objects: list[Any], early: bool) -> None:
    with no_faults():
        reception = Reception()
        world, make = reception.world, World()
        for number, (which, name, kind, mutations) in enumerate(objects):
            reception.take(hostile.hostile(make, which, name, kind, mutations))
            verify(world.cache)
            if early and number == len(objects) // 2:
                world.session()
                world.reply()
        world.session(2)
        assert world.bound("healthy", namespace="apart") == 3
        assert all(reason and len(reason) < 2000 for reason in world.cache.refused.values())
