"""Whatever goes wrong between scheduler and API server: gangs start whole, those that do not fit do not start.

One scheduler lives through all of it. Each fault of `vcsched.simulator.faults` hits requests of its own or the
streams of everybody, the test's too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.e2e.api import Api
from tests.e2e.cluster import Cluster
from tests.e2e.daemon import Daemon
from tests.e2e.kubelet import Kubelet
from vcsched.simulator.cluster import ApiServer

Fault = dict[str, Any]

BIND: Fault = {"verb": "create", "resource": "pods/binding"}
GROUP: Fault = {"verb": "patch", "resource": "podgroups.scheduling.volcano.sh"}
EVENT: Fault = {"verb": "create", "resource": "events"}
PODS: Fault = {"verb": "watch", "resource": "pods"}
NODES: Fault = {"verb": "watch", "resource": "nodes"}
GROUPS: Fault = {"verb": "watch", "resource": "podgroups.scheduling.volcano.sh"}
LIST: Fault = {"verb": "list", "resource": "pods"}

_numbers = itertools.count(1)


class Stage(NamedTuple):
    """An API server, a connection to it, and the scheduler at work."""

    server: ApiServer
    api: Api
    kubelet: Kubelet
    scheduler: Daemon


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One scheduler for all faults."""
    with ApiServer() as server:
        kubeconfig = server.write_kubeconfig(tmp_path_factory.mktemp("faults") / "kubeconfig")
        api = Api(kubeconfig)
        kubelet = Kubelet(api, run=False)
        scheduler = Daemon(kubeconfig)
        scheduler.wait_until("/readyz")
        yield Stage(server, api, kubelet, scheduler)
        print(f"---- end of the log\n{scheduler.log[-8000:]}")
        scheduler.close()
        kubelet.stop()
        api.close()
        assert not kubelet.moved


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param([BIND | {"code": 429, "count": 3}], id="too many requests"),
        pytest.param([BIND | {"code": 500, "count": 3}], id="a bind fails inside the server"),
        pytest.param([BIND | {"code": 409, "count": 2}], id="a bind meets a conflict"),
        pytest.param([BIND | {"action": "lost", "count": 3}], id="answers to binds are lost"),
        pytest.param([BIND | {"action": "latency", "seconds": 0.3, "count": 4}], id="binds are slow"),
        pytest.param([GROUP | {"code": 409, "count": 2}], id="a PodGroup's status meets a conflict"),
        pytest.param([GROUP | {"code": 500, "count": 2}], id="a PodGroup's status is not taken"),
        pytest.param([GROUP | {"action": "lost", "count": 2}], id="answers to a PodGroup's status are lost"),
        pytest.param([EVENT | {"code": 500, "count": 3}], id="events are not taken"),
        pytest.param([PODS | {"action": "cut", "count": 4}], id="watches of pods are cut"),
        pytest.param([GROUPS | {"action": "cut", "count": 2}], id="watches of PodGroups are cut"),
        pytest.param([PODS | {"action": "stall", "seconds": 0.5, "count": 2}], id="watches of pods stall"),
        pytest.param([PODS | {"action": "gone", "count": 2}], id="the history of pods is forgotten"),
        pytest.param([NODES | {"action": "gone", "count": 2}], id="the history of nodes is forgotten"),
        pytest.param(
            [LIST | {"code": 410, "count": 2}, PODS | {"action": "gone", "count": 2}],  # before the list begins
            id="a list expires half-way",
        ),
        pytest.param(
            [LIST | {"code": 429, "count": 2}, PODS | {"action": "gone", "count": 2}],
            id="a list is told to wait",
        ),
    ],
)
def test_gangs_start_whole_through(stage: Stage, faults: list[Fault]) -> None:
    cluster = Cluster(stage.api, stage.kubelet, f"fault-{next(_numbers)}")
    cluster.nodes(2, cpu=4)
    cluster.submit()
    in_force = [stage.server.fault(**fault) for fault in faults]
    cluster.gang("one", pods=3, cpu=1)
    cluster.gang("two", pods=5, cpu=1)
    cluster.gang("too-big", pods=9, cpu=1, min_resources=None)
    cluster.submit()

    try:
        cluster.wait(lambda: all(fault.hits == fault.count for fault in in_force))
        cluster.wait(lambda: cluster.bound_of_gangs() == {"one": 3, "two": 5})
        cluster.wait(lambda: cluster.phase("one") == cluster.phase("two") == "Running")
        assert cluster.bound("too-big") == 0
        assert cluster.overfilled() == []
    finally:
        stage.server.call(lambda simulation: simulation.faults.clear())
        cluster.clear()
