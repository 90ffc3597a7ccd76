"""The fixtures of the tests above on another stage: the embedded API server, one for each test.

`cluster` and `daemon` mean the same here as there, so a test that needs no more than those runs on both;
`server` is the API server itself, for faults and for what was asked of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.api import Api
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import StartDaemon
from tests.e2e.daemon import Daemon
from tests.e2e.kubelet import Kubelet
from vcsched.simulator.cluster import ApiServer, Settings
from vcsched.simulator.kubelet import Pace


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """An embedded API server whose pods start at once."""
    with ApiServer(settings=Settings(pace=Pace(start_s=0.02, stop_s=0.02))) as server:
        yield server


@pytest.fixture
def kubeconfig(server: ApiServer, tmp_path: Path) -> Path:
    """A kubeconfig for it."""
    return server.write_kubeconfig(tmp_path / "kubeconfig")


@pytest.fixture
def cluster(kubeconfig: Path) -> Iterator[Cluster]:
    """An empty cluster to describe and submit. Its pods are only followed: the server runs them itself."""
    api = Api(kubeconfig)
    kubelet = Kubelet(api, run=False)
    yield Cluster(api, kubelet, "embedded")
    kubelet.stop()
    api.close()
    assert not kubelet.moved


@pytest.fixture
def daemon(kubeconfig: Path, cluster: Cluster) -> Iterator[StartDaemon]:
    """Starts schedulers, each a process of its own; what they printed is shown when the test fails."""
    started: list[Daemon] = []

    def start(*flags: str, ready: str = "/readyz", **options: str) -> Daemon:
        one = Daemon(kubeconfig, *flags, **options)
        started.append(one)
        one.wait_until(ready)
        return one

    yield start
    for number, one in enumerate(started, 1):
        print(f"---- end of the log of daemon {number}\n{one.log[-6000:]}")
        one.close()
