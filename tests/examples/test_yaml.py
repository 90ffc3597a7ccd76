"""The YAML examples, submitted to the embedded API server and scheduled by the daemon as their comments say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.api import Api
from tests.e2e.daemon import Daemon
from tests.simulator.conftest import eventually
from vcsched.cli.simulate import read
from vcsched.simulator.cluster import ApiServer, Settings
from vcsched.simulator.kubelet import Pace
from vcsched.simulator.world import World

FOLDER = Path(__file__).parents[2] / "examples"

Submit = Callable[[str], Api]


@pytest.fixture
def submit(tmp_path: Path) -> Iterator[Submit]:
    """Submits an example to a cluster of 12 cpu with a scheduler."""
    world = World()
    world.nodes(3, cpu=4)
    with ApiServer(world.objects(), Settings(pace=Pace(start_s=0.0, stop_s=0.0))) as server:
        kubeconfig = server.write_kubeconfig(tmp_path / "kubeconfig")
        api, daemon = Api(kubeconfig), Daemon(kubeconfig)
        daemon.wait_until()

        def submit(name: str) -> Api:
            server.load(read(FOLDER / name))
            return api

        yield submit
        daemon.close()
        api.close()


def running(api: Api, prefix: str) -> int:
    """How many pods whose names begin so have a node."""
    pods: list[dict[str, Any]] = api.list("Pod")
    return sum(1 for pod in pods if pod["metadata"]["name"].startswith(prefix) and pod["spec"].get("nodeName"))


def test_a_gang_starts(submit: Submit) -> None:
    api = submit("gang.yaml")

    eventually(lambda: running(api, "train-"), 3)


def test_two_queues_share_by_weight(submit: Submit) -> None:
    api = submit("two-queues.yaml")

    eventually(lambda: (running(api, "sweep-"), running(api, "report-")), (8, 4))


def test_a_queue_at_its_limit_lets_one_gang_in_and_tells_the_other_why(submit: Submit) -> None:
    api = submit("limited-queue.yaml")

    def why(gang: str) -> str:
        conditions = api.get("PodGroup", gang, "default").get("status", {}).get("conditions", ())
        return " ".join(each.get("message", "") for each in conditions)

    eventually(lambda: running(api, "fits-"), 3)
    eventually(lambda: "cpu 3 of 4 used or reserved, 5 asked" in why("waits"))
    assert running(api, "waits-") == 0


def test_every_example_is_in_the_list_and_has_a_test() -> None:
    listed = (FOLDER / "README.md").read_text()
    files = [path.name for path in FOLDER.rglob("*.*") if path.suffix in (".yaml", ".py")]

    assert [name for name in files if f"{name})" not in listed] == []
    assert {name for name in files if name.endswith(".yaml")} == {"gang.yaml", "two-queues.yaml", "limited-queue.yaml"}
