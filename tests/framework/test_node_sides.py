"""Shapes share what is said of node objects exactly when what is read of their pods agrees."""

from __future__ import annotations

import numpy as np

from tests.harness import SessionWorld


def test_pods_that_differ_in_their_requests_share_what_is_said_of_node_objects_and_others_do_not() -> None:
    world = SessionWorld()
    world.nodes(2, cpu=8, memory="8Gi")
    world.nodes(2, prefix="t", cpu=8, memory="8Gi", taints=["dedicated=batch:NoSchedule"])
    world.gang("small", pods=1, cpu=1, memory="1Gi")
    world.gang("large", pods=1, cpu=2, memory="1Gi")
    world.gang("tolerant", pods=1, cpu=1, memory="1Gi", tolerations=["dedicated=batch:NoSchedule"])
    ssn = world.open()
    states = {}
    for name in ("small", "large", "tolerant"):
        task = next(iter(ssn.jobs[f"default/{name}"].tasks.values()))
        states[name] = ssn.pipeline.state(ssn.pipeline.ask(task))

    assert states["small"].node is states["large"].node
    assert states["small"].node is not states["tolerant"].node
    assert np.flatnonzero(states["large"].tops.values != -np.inf).tolist() == [0, 1]
    assert np.flatnonzero(states["tolerant"].tops.values != -np.inf).tolist() == [0, 1, 2, 3]
    ssn.close()
