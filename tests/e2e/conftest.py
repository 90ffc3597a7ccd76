"""Fixtures of the end-to-end tests: a real API server with deploy/ applied, and daemons that run against it.

`cluster` is an empty cluster to describe and submit, `daemon` starts a scheduler under our role, `kubectl`
runs a command as the admin. One control plane serves the whole run; a test leaves it empty.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.controlplane import build
from tests.controlplane.launch import ControlPlane
from tests.e2e.api import Api
from tests.e2e.cluster import Cluster
from tests.e2e.daemon import DEPLOY, Daemon
from tests.e2e.kubelet import Kubelet

OUR_ACCOUNT = "vcsched-scheduler"
REFERENCE_ACCOUNT = "volcano-scheduler"

Kubectl = Callable[..., subprocess.CompletedProcess[str]]
StartDaemon = Callable[..., Daemon]

_namespaces = itertools.count(1)


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A real kube-apiserver and etcd, with nothing of ours yet."""
    with ControlPlane(tmp_path_factory.mktemp("controlplane")) as plane:
        yield plane


@pytest.fixture(scope="session")
def kubectl(control_plane: ControlPlane) -> Kubectl:
    """`kubectl("get", "pg")` as the admin or the user of `kubeconfig=`; `ok`: fails unless it exits 0."""
    program = str(build.kubectl())

    def run(*args: str, kubeconfig: Path = control_plane.admin, ok: bool = True) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "KUBECONFIG": str(kubeconfig)}
        done = subprocess.run([program, *args], env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0 or not ok, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def installed(control_plane: ControlPlane, kubectl: Kubectl) -> ControlPlane:
    """The control plane with everything in deploy/ applied, and the account and role of the reference."""
    kubectl("apply", "-k", str(DEPLOY))
    kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s")
    kubectl("apply", "-f", str(Path(__file__).with_name("reference-role.yaml")))
    return control_plane


@pytest.fixture(scope="session")
def api(installed: ControlPlane) -> Iterator[Api]:
    """The admin's connection."""
    connection = Api(installed.admin)
    yield connection
    connection.close()


@pytest.fixture
def cluster(api: Api) -> Iterator[Cluster]:
    """An empty cluster; what the test submits is gone afterwards."""
    kubelet = Kubelet(api)
    cluster = Cluster(api, kubelet, f"e2e-{next(_namespaces)}")
    yield cluster
    try:
        cluster.clear()
    finally:
        kubelet.stop()
    assert not kubelet.moved


@pytest.fixture
def daemon(installed: ControlPlane, cluster: Cluster) -> Iterator[StartDaemon]:
    """Starts schedulers, each a process of its own and under our role unless told otherwise.

    `daemon("--leader-elect=true", account=REFERENCE_ACCOUNT, ready="/healthz")`; what they printed is shown
    when the test fails. Depends on `cluster`, so that they end before the cluster is emptied.
    """
    started: list[Daemon] = []

    def start(*flags: str, account: str = OUR_ACCOUNT, ready: str = "/readyz", **options: str) -> Daemon:
        kubeconfig = installed.service_account_kubeconfig("volcano-system", account)
        one = Daemon(kubeconfig, *flags, **options)
        started.append(one)
        one.wait_until(ready)
        return one

    yield start
    for number, one in enumerate(started, 1):
        print(f"---- end of the log of daemon {number}\n{one.log[-6000:]}")
        one.close()
