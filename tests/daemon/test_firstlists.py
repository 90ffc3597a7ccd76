"""No decision on half a picture: nodes and pods are waited for, the rest for a while."""

from __future__ import annotations

import threading

import pytest

from tests.harness import SessionWorld
from vcsched.daemon.firstlists import wait_for_first_lists
from vcsched.kube.link import Synced
from vcsched.kube.objects import Node, Pod, PodGroup, Queue

KINDS = (Node, Pod, PodGroup, Queue)


def wait(world: SessionWorld, timeout_s: float, stopped: threading.Event | None = None) -> bool:
    reasons = {"queues": "no right to list and watch queues"}
    return wait_for_first_lists(world.cache, KINDS, lambda: reasons, timeout_s, stopped or threading.Event())


def synced(world: SessionWorld, *kinds: type) -> None:
    for kind in kinds:
        world.cache.link.put(Synced(kind))


def test_the_wait_ends_when_every_kind_is_there(world: SessionWorld) -> None:
    synced(world, *KINDS)

    assert wait(world, 60.0)


def test_after_the_timeout_it_goes_on_and_names_what_lags(
    world: SessionWorld, caplog: pytest.LogCaptureFixture
) -> None:
    synced(world, Node, Pod, PodGroup)

    assert wait(world, 0.0)

    assert "going on without the first list of queues (no right to list and watch queues)" in caplog.text


@pytest.mark.parametrize("missing", [Node, Pod])
def test_nodes_and_pods_are_waited_for_beyond_the_timeout(world: SessionWorld, missing: type) -> None:
    synced(world, *(kind for kind in KINDS if kind is not missing))
    late = threading.Timer(0.05, synced, (world, missing))
    late.start()

    assert wait(world, 0.0)

    assert missing in world.cache.synced


def test_a_stop_ends_the_wait(world: SessionWorld) -> None:
    stopped = threading.Event()
    threading.Timer(0.05, stopped.set).start()

    assert not wait(world, 60.0, stopped)
