"""The whole I/O side against a server, in a thread and in a process: from the login to the released lease."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from vcsched.kube.errors import ApiError
from vcsched.kube.io import IO
from vcsched.kube.ioprocess import IOProcess
from vcsched.kube.link import Bind, Deleted, Link, Refused, Synced, Upsert, Wrote
from vcsched.kube.objects import Node, Pod, PodGroup, Queue, key_of
from vcsched.kube.settings import IOSettings, LeaseSettings, Pace, Patience
from vcsched.simulator.cluster import ApiServer
from vcsched.simulator.world import World

KINDS = (Node, Pod, PodGroup, Queue)
PACE = Pace(page=7, silence_s=60.0, retry_s=0.02, retry_most_s=0.1)


class Session:
    """The session side of a link: a picture that is kept by the messages, and the results of writes."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.objects: dict[tuple[type, str], Any] = {}
        self.synced: set[type] = set()
        self.wrote: dict[int, Wrote] = {}

    def until(self, holds: Callable[[], bool], timeout_s: float = 60.0) -> None:
        deadline = time.monotonic() + timeout_s
        while not holds():
            assert time.monotonic() < deadline, "this never came true"
            self.link.wait(0.05)
            for message in self.link.drain():
                self._take(message)

    def _take(self, message: Any) -> None:
        if isinstance(message, Upsert):
            self.objects[type(message.obj), key_of(message.obj)] = message.obj
        elif isinstance(message, Deleted):
            del self.objects[message.kind, message.key]
        elif isinstance(message, Synced):
            self.synced.add(message.kind)
        elif isinstance(message, Wrote):
            assert message.no not in self.wrote
            self.wrote[message.no] = message
        else:
            assert not isinstance(message, Refused), message.reason

    def pods(self) -> dict[str, Pod]:
        return {key: obj for (kind, key), obj in self.objects.items() if kind is Pod}

    def bind(self, no: int, pod: Pod, node: str) -> Bind:
        meta = pod.metadata
        return Bind(no, meta.namespace, meta.name, meta.uid, node, gang="g")


Side = IO | IOProcess
Make = Callable[..., AbstractContextManager[tuple[Side, Session]]]
PATIENCE = Patience(deadline_s=60.0, pause_s=0.02, pause_most_s=0.1, events_s=60.0)


@contextlib.contextmanager
def thread(
    server: ApiServer, lease: LeaseSettings | None = None, on_lost: Callable[[], None] | None = None
) -> Iterator[tuple[Side, Session]]:
    link = Link()
    io = IO(link, _settings(server, lease), on_lost)
    io.start()
    try:
        yield io, Session(link)
    finally:
        io.stop(5.0)


@contextlib.contextmanager
def process(
    server: ApiServer, lease: LeaseSettings | None = None, on_lost: Callable[[], None] | None = None
) -> Iterator[tuple[Side, Session]]:
    io = IOProcess(_settings(server, lease), lambda _: on_lost() if on_lost else None)
    try:
        io.start()
        yield io, Session(io.link)
    finally:
        io.stop(5.0)


def _settings(server: ApiServer, lease: LeaseSettings | None) -> IOSettings:
    return IOSettings("", server.url, ("volcano",), lease=lease, pace=PACE, patience=PATIENCE)


both = pytest.mark.parametrize("make", [thread, process])


def world(pods: int = 60) -> World:
    made = World()
    made.nodes(4, cpu=64)
    made.gang("train", pods=pods, cpu=1)
    return made


def test_the_login_by_kubeconfig_gives_the_version_and_a_wrong_address_an_error(tmp_path: Path) -> None:
    with ApiServer() as server:
        path = server.write_kubeconfig(tmp_path / "config")
        io = IO(Link(), IOSettings(str(path), "", ("volcano",)))
        assert io.start().startswith("v1.")
        assert io.stop()
    io = IO(Link(), IOSettings("", server.url, ("volcano",)))
    with pytest.raises(ApiError):
        io.start()
    io.stop()


@both
def test_pods_are_bound_and_told_although_everything_fails_now_and_then(make: Make) -> None:
    with ApiServer(world().objects()) as server, make(server) as (io, session):
        io.follow(KINDS)
        session.until(lambda: session.synced == set(KINDS))
        assert len(session.pods()) == 60
        server.fault(verb="create", resource="pods/binding", code=429, retry_after_s=0, count=5)
        server.fault(verb="create", resource="pods/binding", action="lost", count=5)
        server.fault(verb="create", resource="pods/binding", code=500, count=5)
        server.fault(verb="create", resource="pods/binding", code=409, count=5)
        nodes = [node["metadata"]["name"] for node in server.objects("Node")]
        binds = [session.bind(no, pod, nodes[no % 4]) for no, pod in enumerate(session.pods().values())]
        session.link.send(binds[:30])
        server.fault(verb="watch", resource="pods", action="cut")
        session.link.send(binds[30:])
        server.fault(verb="watch", resource="pods", action="gone")
        session.until(lambda: len(session.wrote) == 60)
        assert all(wrote.ok for wrote in session.wrote.values()), session.wrote
        session.until(lambda: all(pod.spec.node_name for pod in session.pods().values()))
        assert {pod["spec"]["nodeName"] for pod in server.objects("Pod")} == set(nodes)
        session.until(lambda: len(server.objects("Event")) == 60)
        assert io.stats().objects["pods"] == 60


@both
def test_two_replicas_take_turns_and_the_first_leaves_nothing_behind_its_fence(make: Make) -> None:
    lost = threading.Event()
    lease = {"namespace": "volcano-system", "duration_s": 4.0, "renew_deadline_s": 3.0, "retry_s": 0.05}
    with (
        ApiServer(world(5).objects()) as server,
        make(server, lease=LeaseSettings(identity="a", **lease), on_lost=lost.set) as (first, one),
        make(server, lease=LeaseSettings(identity="b", **lease)) as (second, two),
    ):
        never = threading.Event()
        assert first.ensure_queue("default", True, never)
        assert first.elect(never)
        first.follow(KINDS)
        one.until(lambda: len(one.pods()) == 5)
        stopped = threading.Event()
        threading.Timer(0.2, stopped.set).start()
        assert not second.elect(stopped)

        server.fault(verb="update", resource="leases*", code=500, count=None)
        assert lost.wait(60)
        (pod, *_) = one.pods().values()
        one.link.send([one.bind(1, pod, "n0")])
        one.until(lambda: 1 in one.wrote)
        assert "fenced" in one.wrote[1].reason
        assert not first.stats().leading
        assert "create pods/binding" not in server.requests()

        server.call(lambda simulation: simulation.faults.clear())
        assert second.elect(never)
        second.follow(KINDS)
        two.until(lambda: len(two.pods()) == 5)


@both
def test_stopping_writes_what_was_sent_and_releases_the_lease(make: Make) -> None:
    with ApiServer(world(40).objects()) as server:
        lease = LeaseSettings(namespace="volcano-system", identity="a")
        with make(server, lease=lease) as (io, session):
            assert io.elect(threading.Event())
            io.follow(KINDS)
            session.until(lambda: len(session.pods()) == 40)
            node = server.objects("Node")[0]["metadata"]["name"]
            session.link.send([session.bind(no, pod, node) for no, pod in enumerate(session.pods().values())])
            assert io.stop(60.0)
            session.until(lambda: len(session.wrote) == 40)
        assert all(pod["spec"].get("nodeName") == node for pod in server.objects("Pod"))
        (found,) = server.objects("Lease", "coordination.k8s.io/v1")
        assert found["spec"]["holderIdentity"] == ""
        told = [event["message"] for event in server.objects("Event") if event["reason"] == "LeaderElection"]
        assert told == ["a became leader", "a stopped leading"]


@both
def test_a_server_that_never_answers_does_not_hold_up_the_end(make: Make) -> None:
    with ApiServer(world(3).objects()) as server, make(server) as (io, session):
        io.follow(KINDS)
        session.until(lambda: len(session.pods()) == 3)
        server.fault(verb="create", resource="pods/binding", action="latency", seconds=60, count=None)
        session.link.send([session.bind(no, pod, "n") for no, pod in enumerate(session.pods().values())])
        assert not io.stop(0.2)
