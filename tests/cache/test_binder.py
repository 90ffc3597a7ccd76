"""Binds leave while the session goes on, and a gang's binds leave together."""

from __future__ import annotations

from collections.abc import Iterable

from tests.harness import SessionWorld
from vcsched.kube.link import Bind, Outbound


def test_binds_leave_in_the_middle_of_a_session_and_no_gang_is_cut(world: SessionWorld) -> None:
    world.nodes(4, cpu=200)
    for number in range(12):
        world.gang(f"g{number}", pods=30, cpu=1)
    batches: list[list[str]] = []
    send = world.cache.link.send

    def watched(messages: Iterable[Outbound]) -> None:
        batch = list(messages)
        batches.append([message.gang for message in batch if isinstance(message, Bind)])
        send(batch)

    world.cache.link.send = watched  # type: ignore[method-assign]
    world.session()
    binding = [batch for batch in batches if batch]
    assert sum(map(len, binding)) == 360
    assert len(binding) >= 4, "the binds have waited for the end of the session"
    for gangs in (set(batch) for batch in binding):
        for gang in gangs:
            assert sum(gang in batch for batch in binding) == 1, f"the binds of {gang} left in pieces"
