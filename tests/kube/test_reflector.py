"""Lists and watches: whatever the server and the network do, no event is lost and none invented."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.kube.fake import FakeServer, failure
from tests.kube.stage import PACE, pod, pod_path, until
from vcsched.kube.client import Client
from vcsched.kube.config import Login
from vcsched.kube.filters import own_or_bound
from vcsched.kube.link import Deleted, Refused, Synced, Upsert
from vcsched.kube.objects import Node, Object, Pod, PodGroup
from vcsched.kube.reflector import Reflector
from vcsched.kube.settings import Pace

NODE = "/api/v1/nodes"


class Follower:
    """A running reflector; `told` is what it put on the link, `picture` what that adds up to."""

    def __init__(self, reflector: Reflector[Any], told: list[Any]) -> None:
        self.reflector = reflector
        self.told = told

    @property
    def picture(self) -> set[str]:
        there: set[str] = set()
        for message in self.told:
            if isinstance(message, Upsert):
                there.add(message.obj.metadata.name)
            elif isinstance(message, Deleted):
                there.remove(message.key.rpartition("/")[2])
        return there

    def upserts(self, name: str) -> int:
        return sum(isinstance(m, Upsert) and m.obj.metadata.name == name for m in self.told)


@contextlib.asynccontextmanager
async def following(
    server: FakeServer, kind: type[Object] = Pod, keep: Any = None, pace: Pace = PACE, vital: bool = False
) -> AsyncIterator[Follower]:
    client = Client(Login(server=server.url), qps=0)
    await client.open()
    told: list[Any] = []
    reflector = Reflector(client, kind, told.append, keep, pace=pace, vital=vital)
    task = asyncio.create_task(reflector.run())
    try:
        yield Follower(reflector, told)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await client.close()


async def test_a_list_comes_in_pages_and_ends_with_synced() -> None:
    async with FakeServer() as server:
        for i in range(8):
            server.put(pod_path(f"p{i}"), pod(f"p{i}"))
        async with following(server) as f:
            await until(lambda: f.reflector.synced)
            assert [type(m) for m in f.told] == [Upsert] * 8 + [Synced]
            pages = [r for r in server.sent("GET") if "watch" not in r.query]
            assert [p.query.get("limit") for p in pages] == ["3", "3", "3"]


async def test_changes_arrive_in_order() -> None:
    async with FakeServer() as server, following(server) as f:
        await until(lambda: server.watches)
        server.put(pod_path("a"), pod("a"))
        server.put(pod_path("a"), pod("a", nodeName="n1"))
        server.remove(pod_path("a"))
        await until(lambda: len(f.told) == 4)
        _, first, second, third = f.told
        assert (first.obj.spec.node_name, second.obj.spec.node_name) == ("", "n1")
        assert third == Deleted(Pod, "ns/a", "uid-a")


async def test_a_cut_watch_resumes_where_it_was() -> None:
    async with FakeServer() as server, following(server) as f:
        await until(lambda: server.watches)
        server.put(pod_path("a"), pod("a"))
        await until(lambda: "a" in f.picture)
        server.cut_watches()
        server.put(pod_path("b"), pod("b"))
        server.remove(pod_path("a"))
        await until(lambda: f.picture == {"b"})
        assert f.upserts("a") == f.upserts("b") == 1
        assert len([r for r in server.sent("GET") if "watch" not in r.query]) == 1


async def test_an_event_cut_in_the_middle_comes_whole_after_the_resume() -> None:
    async with FakeServer() as server, following(server) as f:
        await until(lambda: server.watches)
        server.put(pod_path("a"), pod("a"), event=False)
        server.send(b'{"type":"ADDED","object":{"metadata":{"name":"a","names')
        await asyncio.sleep(0.01)
        server.cut_watches()
        await until(lambda: f.upserts("a") == 1)
        server.put(pod_path("b"), pod("b"))
        await until(lambda: f.picture == {"a", "b"})
        assert f.upserts("a") == 1


async def test_a_silent_watch_is_given_up_and_loses_nothing() -> None:
    pace = Pace(silence_s=0.05, retry_s=0.01, retry_most_s=0.02)
    async with FakeServer() as server, following(server, pace=pace) as f:
        await until(lambda: server.watches)
        server.put(pod_path("a"), pod("a"), event=False)  # the server forgets to tell
        await until(lambda: f.picture == {"a"})


async def test_a_forgotten_version_means_a_new_list_compared_with_what_is_known() -> None:
    async with FakeServer() as server:
        for name in ("stays", "goes", "changes", "reborn"):
            server.put(pod_path(name), pod(name))
        async with following(server) as f:
            await until(lambda: server.watches)
            server.remove(pod_path("goes"), event=False)
            server.put(pod_path("changes"), pod("changes", nodeName="n1"), event=False)
            server.remove(pod_path("reborn"), event=False)
            server.put(pod_path("reborn"), pod("reborn", uid="second"), event=False)
            server.put(pod_path("new"), pod("new"), event=False)
            server.oldest = server.version
            server.cut_watches()
            await until(lambda: f.picture == {"stays", "changes", "reborn", "new"} and len(f.told) == 10)
            assert [type(m) for m in f.told[:5]] == [Upsert] * 4 + [Synced]
            assert f.upserts("stays") == 1
            assert Deleted(Pod, "ns/goes", "uid-goes") in f.told
            reborn = f.told.index(Deleted(Pod, "ns/reborn", "uid-reborn"))
            assert f.told[reborn + 1].obj.metadata.uid == "second"


async def test_410_as_an_event_of_the_stream_means_a_new_list() -> None:
    async with FakeServer() as server, following(server) as f:
        await until(lambda: server.watches)
        server.put(pod_path("a"), pod("a"), event=False)
        server.send(b'{"type":"ERROR","object":{"code":410,"reason":"Expired","message":"too old"}}\n')
        await until(lambda: f.picture == {"a"})


async def test_a_bookmark_moves_the_place_to_resume_from() -> None:
    async with FakeServer() as server, following(server) as f:
        await until(lambda: server.watches)
        server.bookmark("/api/v1/pods", 900)
        await until(lambda: f.reflector._version == "900")
        server.cut_watches()
        await until(lambda: server.sent("GET")[-1].query.get("resourceVersion") == "900")


async def test_a_list_that_expires_half_way_is_begun_anew() -> None:
    async with FakeServer() as server:
        for i in range(5):
            server.put(pod_path(f"p{i}"), pod(f"p{i}"))
        inner = server._get

        def expired_once(seen: Any) -> Any:
            if "continue" in seen.query:
                return failure(410, "Expired", "the continue token is too old")
            return inner(seen)

        server._get = expired_once  # type: ignore[method-assign]
        async with following(server) as f:
            await until(lambda: f.reflector.synced)
            assert len(f.picture) == 5


async def test_a_heartbeat_is_dropped_but_its_version_kept() -> None:
    async with FakeServer() as server:
        node = {"metadata": {"name": "n1", "uid": "u1"}, "status": {"conditions": []}}
        server.put(f"{NODE}/n1", node)
        async with following(server, Node) as f:
            await until(lambda: server.watches)
            beat = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
            server.put(f"{NODE}/n1", {**node, "status": {"conditions": [beat]}})
            await until(lambda: f.upserts("n1") == 2)
            told = f.told[-1].obj.metadata.resource_version
            later = server.put(
                f"{NODE}/n1",
                {**node, "status": {"conditions": [{**beat, "lastHeartbeatTime": "2026-01-01T00:00:10Z"}]}},
            )
            server.put(f"{NODE}/n2", {"metadata": {"name": "n2", "uid": "u2"}})
            await until(lambda: f.upserts("n2") == 1)
            assert f.upserts("n1") == 2
            newest = f.reflector.known.newest("n1", "u1", told)
            assert newest == later["metadata"]["resourceVersion"] != told


async def test_old_news_is_dropped() -> None:
    async with FakeServer() as server, following(server) as f:
        await until(lambda: server.watches)
        server.put(pod_path("a"), pod("a", nodeName="n1"))
        old = b'{"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"ns","uid":"uid-a",'
        server.send(old + b'"resourceVersion":"3"},"spec":{"nodeName":"n0"}}}\n')
        server.put(pod_path("b"), pod("b"))
        await until(lambda: f.upserts("b") == 1)
        assert f.upserts("a") == 1


async def test_filter_edges_are_additions_and_deletions() -> None:
    async with FakeServer() as server, following(server, keep=own_or_bound(["volcano"])) as f:
        await until(lambda: server.watches)
        foreign = {"schedulerName": "other"}
        server.put(pod_path("foreign"), pod("foreign", **foreign))
        server.put(pod_path("own"), pod("own"))
        await until(lambda: f.picture == {"own"})
        server.put(pod_path("foreign"), pod("foreign", **foreign, nodeName="n1"))
        await until(lambda: f.picture == {"own", "foreign"})
        server.put(pod_path("foreign"), pod("foreign", **foreign))
        server.put(pod_path("own"), pod("own", **foreign))
        await until(lambda: f.picture == set())
        server.remove(pod_path("foreign"))
        server.put(pod_path("own"), pod("own"))
        await until(lambda: f.picture == {"own"})


async def test_an_object_that_cannot_be_read_is_refused_with_its_field_and_value() -> None:
    group = {"metadata": {"name": "llama", "namespace": "research", "uid": "u"}, "spec": {"minMember": "x"}}
    path = "/apis/scheduling.volcano.sh/v1beta1/namespaces/research/podgroups/llama"
    async with FakeServer() as server:
        server.put(path, group)
        async with following(server, PodGroup) as f:
            await until(lambda: server.watches)
            refused = f.told[0]
            assert isinstance(refused, Refused)
            assert refused.key == "research/llama"
            assert refused.reason.startswith('spec.minMember is "x": expected int')
            server.put(path, {**group, "status": {"running": 1}})  # still as bad: no second word
            server.put(path, {**group, "spec": {"minMember": 3}})
            await until(lambda: len(f.told) == 3)
            assert f.told[2].obj.spec.min_member == 3
            server.put(path, group)
            server.remove(path)
            await until(lambda: isinstance(f.told[-1], Deleted))
            assert [type(m) for m in f.told[3:]] == [Refused, Deleted]


async def test_a_null_where_none_is_foreseen_means_not_there() -> None:
    async with FakeServer() as server:
        server.put(pod_path("a"), {**pod("a"), "status": {"conditions": None, "phase": "Pending"}})
        async with following(server) as f:
            await until(lambda: f.upserts("a") == 1)
            assert f.told[0].obj.status.conditions == ()


async def test_a_kind_that_is_not_served_is_one_line_and_found_when_it_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    async with FakeServer() as server:
        server.served = lambda path: "podgroups" not in path
        async with following(server, PodGroup) as f:
            await until(lambda: len(server.sent("GET")) >= 4)
            assert f.told == [Synced(PodGroup)]
            assert len([r for r in caplog.records if "not served" in r.getMessage()]) == 1
            server.put("/apis/scheduling.volcano.sh/v1beta1/namespaces/ns/podgroups/g", pod("g"))
            server.served = lambda path: True
            await until(lambda: f.picture == {"g"})
            assert f.told.count(Synced(PodGroup)) == 1


async def test_without_the_right_to_list_pods_there_is_no_sync_and_the_lag_says_why() -> None:
    async with FakeServer() as server:
        server.fail("GET", "/pods", 403, times=3, message='cannot list resource "pods"')
        async with following(server, vital=True) as f:
            await until(lambda: len(server.sent("GET")) >= 2)
            assert not f.told
            assert "no right to list and watch pods" in f.reflector.lag
            await until(lambda: f.reflector.synced)


async def test_a_server_in_trouble_is_asked_again() -> None:
    async with FakeServer() as server:
        server.put(pod_path("a"), pod("a"))
        server.fail("GET", "/pods", 500, times=2)
        server.fail("GET", "/pods", 429, headers={"Retry-After": "0.01"})
        server.fail("GET", "/pods", 0)
        async with following(server) as f:
            await until(lambda: f.picture == {"a"})


async def test_versions_that_restart_after_a_restore_are_believed() -> None:
    async with FakeServer() as server:
        server.version = 1000
        server.put(pod_path("a"), pod("a"))
        async with following(server) as f:
            await until(lambda: server.watches)
            server.version = 5
            server.objects.clear()
            server.log.clear()
            server.put(pod_path("a"), pod("a", nodeName="n1"), event=False)
            server.send(b'{"type":"ERROR","object":{"code":410}}\n')
            await until(lambda: f.upserts("a") == 2)
            assert f.told[-1].obj.spec.node_name == "n1"
