"""One leader at a time, and none that writes after it lost the lease."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from tests.kube.fake import FakeServer
from tests.kube.stage import until
from vcsched.kube.client import Client
from vcsched.kube.config import Login
from vcsched.kube.errors import FencedError
from vcsched.kube.lease import Election
from vcsched.kube.settings import LeaseSettings

PATH = "/apis/coordination.k8s.io/v1/namespaces/volcano-system/leases/volcano"


@contextlib.asynccontextmanager
async def candidate(
    server: FakeServer, name: str, duration_s: float = 600.0, retry_s: float = 0.03
) -> AsyncIterator[Election]:
    client = Client(Login(server=server.url), qps=0)
    await client.open()
    settings = LeaseSettings(identity=name, duration_s=duration_s, renew_deadline_s=duration_s * 2 / 3, retry_s=retry_s)
    election = Election(client, settings)
    try:
        yield election
    finally:
        await client.close()


def holder(server: FakeServer) -> str:
    return str(server.objects[PATH]["spec"]["holderIdentity"])


async def test_the_first_candidate_makes_the_lease_and_leads() -> None:
    async with FakeServer() as server, candidate(server, "a", 15.0) as a:
        await a.acquire()
        assert a.leading
        spec = server.objects[PATH]["spec"]
        assert (spec["holderIdentity"], spec["leaseDurationSeconds"], spec["leaseTransitions"]) == (
            "a",
            15,
            0,
        )
        assert spec["acquireTime"] == spec["renewTime"]
        assert a.event("became leader").message == "a became leader"


async def test_a_second_candidate_waits_while_the_first_renews() -> None:
    async with FakeServer() as server, candidate(server, "a") as a, candidate(server, "b") as b:
        await a.acquire()
        holding = asyncio.create_task(a.hold())
        waiting = asyncio.create_task(b.acquire())
        renewals = len(server.sent("PUT"))
        await until(lambda: len(server.sent("PUT")) > renewals + 15)
        assert holder(server) == "a"
        assert not waiting.done()
        for task in (holding, waiting):
            task.cancel()


async def test_a_silent_leader_is_replaced_after_the_lease_duration() -> None:
    async with FakeServer() as server, candidate(server, "a", 0.3) as a, candidate(server, "b", 0.3) as b:
        await a.acquire()
        await b.acquire()
        assert holder(server) == "b"
        assert server.objects[PATH]["spec"]["leaseTransitions"] == 1
        await a.hold()
        assert not a.leading
        with pytest.raises(FencedError):
            a._client.gate.check()


async def test_a_leader_that_cannot_renew_in_time_is_fenced() -> None:
    async with FakeServer() as server, candidate(server, "a", 0.3) as a:
        await a.acquire()
        server.fail("PUT", "/leases/", 500, times=1000)
        await a.hold()
        assert a._client.gate.is_shut


async def test_a_leader_whose_renewal_hangs_is_fenced() -> None:
    async with FakeServer() as server, candidate(server, "a", 0.3) as a:
        await a.acquire()
        server.fail("PUT", "/leases/", 500, times=1000, wait=asyncio.Event())
        await a.hold()
        assert a._client.gate.is_shut


async def test_a_renewal_that_fails_now_and_then_does_not_matter() -> None:
    async with FakeServer() as server, candidate(server, "a") as a:
        await a.acquire()
        holding = asyncio.create_task(a.hold())
        for status in (500, 409, 0, 429):
            fault = server.fail("PUT", "/leases/", status)
            await until(lambda fault=fault: not fault.times)
        renewed = len(server.sent("PUT"))
        await until(lambda: len(server.sent("PUT")) > renewed + 3)
        assert a.leading
        assert not holding.done()
        holding.cancel()


async def test_a_released_lease_is_taken_at_once() -> None:
    async with FakeServer() as server, candidate(server, "a") as a, candidate(server, "b") as b:
        await a.acquire()
        await a.release()
        assert holder(server) == ""
        await b.acquire()
        assert holder(server) == "b"
        await a.release()
        assert holder(server) == "b"


async def test_a_lease_is_released_although_a_renewal_was_under_way_and_not_if_it_is_anothers_by_now() -> None:
    async with FakeServer() as server, candidate(server, "a") as a:
        await a.acquire()
        renewed = server.objects[PATH]
        server.put(PATH, {**renewed, "spec": {**renewed["spec"], "renewTime": "2027-01-01T00:00:00.000000Z"}})
        await a.release()
        assert holder(server) == ""

        await a.acquire()
        taken = server.objects[PATH]
        server.put(PATH, {**taken, "spec": {**taken["spec"], "holderIdentity": "b"}})
        await a.release()
        assert holder(server) == "b"
