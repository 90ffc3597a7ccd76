"""Unchanged kubectl works against the simulator."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.simulator.conftest import eventually
from vcsched.simulator.cluster import ApiServer
from vcsched.simulator.world import World

pytestmark = pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not on PATH")


class Kubectl:
    def __init__(self, kubeconfig: Path) -> None:
        self._base = ["kubectl", "--kubeconfig", str(kubeconfig), "--cache-dir", str(kubeconfig.parent / "cache")]

    def __call__(self, *words: str, stdin: str = "", fails: bool = False) -> str:
        done = subprocess.run([*self._base, *words], input=stdin, capture_output=True, text=True, timeout=120)
        assert (done.returncode != 0) is fails, done.stdout + done.stderr
        return done.stderr if fails else done.stdout


@pytest.fixture
def kubectl(kubeconfig: Path) -> Kubectl:
    return Kubectl(kubeconfig)


def columns(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


GROUP = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g}
spec: {minMember: %d}
"""


def test_get_prints_the_usual_columns(server: ApiServer, kubectl: Kubectl) -> None:
    world = World()
    world.nodes(1, cpu=4)
    world.queue("research", parent="root")
    world.gang("llama", pods=1, cpu=1, queue="research", phase="Inqueue")
    server.load(world.objects())

    assert columns(kubectl("get", "pg", "-o", "wide"))[0] == ["NAME", "STATUS", "MINMEMBER", "RUNNINGS", "AGE", "QUEUE"]
    row = columns(kubectl("get", "pg", "-o", "wide"))[1]
    assert (row[:3], row[-1]) == (["llama", "Inqueue", "1"], "research")
    assert columns(kubectl("get", "q")) == [["NAME", "PARENT"], ["research", "root"]]
    assert columns(kubectl("get", "nodes"))[1][:3] == ["n-0", "Ready", "<none>"]
    wide = kubectl("get", "pods", "-o", "wide").splitlines()[0]
    assert wide.split() == [
        "NAME",
        "READY",
        "STATUS",
        "RESTARTS",
        "AGE",
        "IP",
        "NODE",
        "NOMINATED",
        "NODE",
        "READINESS",
        "GATES",
    ]
    assert kubectl("get", "pods", "-o", "jsonpath={.items[*].metadata.name}") == "llama-0"


def test_apply_creates_then_leaves_then_changes(kubectl: Kubectl) -> None:
    name = "podgroup.scheduling.volcano.sh/g"
    assert kubectl("apply", "-f", "-", stdin=GROUP % 2) == f"{name} created\n"
    assert kubectl("apply", "-f", "-", stdin=GROUP % 2) == f"{name} unchanged\n"
    assert kubectl("apply", "-f", "-", stdin=GROUP % 3) == f"{name} configured\n"
    assert kubectl("get", "pg", "g", "-o", "jsonpath={.spec}") == '{"minMember":3,"queue":"default"}'


def test_a_world_is_created_from_its_yaml(kubectl: Kubectl) -> None:
    world = World(namespace="team")
    world.nodes(1)
    world.priority_class("high", 100)
    world.gang("llama", pods=2, cpu=1, priority_class="high")
    made = kubectl("create", "-f", "-", stdin=world.yaml())
    assert len(made.splitlines()) == len(world)
    assert kubectl("get", "pods", "-n", "team", "-o", "jsonpath={.items[*].spec.priority}") == "100 100"


def test_describe_shows_a_pod_with_its_events_and_a_node_with_its_pods(server: ApiServer, kubectl: Kubectl) -> None:
    world = World()
    world.nodes(1, cpu=4)
    pod = world.running("old", on="n-0", cpu=1).pods[0]
    meta = pod["metadata"]
    server.load(world.objects())
    about = {"kind": "Pod", "namespace": "default", "name": meta["name"], "uid": meta["uid"]}
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e", "namespace": "default"},
        "involvedObject": about,
        "type": "Warning",
        "reason": "Evict",
        "message": "Pod is evicted, because of preempt",
    }
    server.create(event)

    assert "Pod is evicted, because of preempt" in kubectl("describe", "pod", "old-0")
    assert "old-0" in kubectl("describe", "node", "n-0")
    assert "Evict" in kubectl("events")
    assert "pod/old-0" in kubectl("get", "events")


def test_scale_label_taint_and_delete(server: ApiServer, kubectl: Kubectl) -> None:
    world = World()
    world.nodes(1)
    world.replica_set("web", 1, cpu=1)
    server.load(world.objects())
    kubectl("scale", "rs", "web", "--replicas=3")
    eventually(lambda: len(server.objects("Pod")), 3)
    kubectl("label", "pod", "web-0", "a=b")
    kubectl("taint", "node", "n-0", "gpu=only:NoSchedule")
    assert server.objects("Node")[0]["spec"]["taints"] == [{"effect": "NoSchedule", "key": "gpu", "value": "only"}]
    kubectl("delete", "rs", "web")
    eventually(lambda: server.objects("Pod"), [])


def test_typed_commands_and_errors(kubectl: Kubectl) -> None:
    assert kubectl("create", "namespace", "team") == "namespace/team created\n"
    kubectl("create", "priorityclass", "low", "--value=-5")
    assert kubectl("get", "priorityclass", "low", "-o", "jsonpath={.value}") == "-5"
    kubectl("create", "quota", "q", "--hard=requests.cpu=4,pods=2", "-n", "team")
    hard = kubectl("get", "quota", "q", "-n", "team", "-o", "jsonpath={.spec.hard}")
    assert hard == '{"pods":"2","requests.cpu":"4"}'
    assert "AlreadyExists" in kubectl("create", "namespace", "team", fails=True)
    assert 'pods "nobody" not found' in kubectl("get", "pod", "nobody", fails=True)
    assert kubectl("auth", "can-i", "delete", "pods") == "yes\n"


def test_a_watch_prints_each_change(server: ApiServer, kubectl: Kubectl) -> None:
    world = World()
    world.nodes(1)
    world.pod("p")
    server.load(world.objects())
    watch = subprocess.Popen([*kubectl._base, "get", "pods", "-w", "--no-headers"], stdout=subprocess.PIPE, text=True)
    try:
        assert watch.stdout is not None
        assert watch.stdout.readline().split()[2] == "Pending"
        server.call(lambda simulation: simulation.registry.bind("default", "p", {"target": {"name": "n-0"}}))
        assert watch.stdout.readline().split()[2] in ("ContainerCreating", "Running")
    finally:
        watch.kill()
        watch.wait()
