"""Leader election: one scheduler decides at a time, held together by a Lease object.

The protocol is the one of Kubernetes' own components, so that a replica of the reference and one of ours,
or two of ours, exclude each other: a holder renews; a candidate that saw the same record unchanged for the
whole lease duration, by its own clock, takes over. Who could not renew within the deadline shuts the gate:
nothing it decided leaves any more. On a clean stop the Lease is released, so that the next leader need not
wait. Spec 02 §3, W36.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from datetime import UTC, datetime
from typing import Any

import msgspec

from vcsched.kube import keys
from vcsched.kube.client import Client
from vcsched.kube.errors import ApiError, FencedError
from vcsched.kube.link import Event, Reference
from vcsched.kube.objects import KINDS, Lease
from vcsched.kube.settings import LeaseSettings

log = logging.getLogger(__name__)

_JITTER = 1.2


class Election:
    """Our part in the election."""

    def __init__(self, client: Client, settings: LeaseSettings) -> None:
        self._client = client
        self._settings = settings
        self._raw: dict[str, Any] = {}  # the Lease as last read or written
        self._record: tuple[Any, ...] = ()
        self._seen_at = 0.0  # monotonic time at which the record was first seen
        self._leading = False
        resource = KINDS[Lease]
        self._collection = resource.path(settings.namespace)
        self._path = resource.path(settings.namespace, settings.name)

    @property
    def leading(self) -> bool:
        return self._leading

    def event(self, what: str) -> Event:
        """The Event "<identity> <what>" on the Lease."""
        settings = self._settings
        uid = (self._raw.get("metadata") or {}).get("uid") or ""
        about = Reference("Lease", settings.namespace, settings.name, uid, KINDS[Lease].api_version)
        return Event(about, "Normal", keys.EVENT_LEADER_ELECTION, f"{settings.identity} {what}")

    async def acquire(self) -> None:
        """Wait until we lead."""
        settings = self._settings
        log.info("attempting to acquire the lease %s/%s", settings.namespace, settings.name)
        while not await self._try():
            await asyncio.sleep(settings.retry_s * (1.0 + random.random() * _JITTER))
        log.info("acquired the lease as %s", settings.identity)

    async def hold(self) -> None:
        """Renew as long as it works; when it does not in time, shut the gate and return."""
        settings = self._settings
        gate = self._client.gate
        while True:
            await asyncio.sleep(settings.retry_s)
            left_s = gate.valid_until - time.monotonic()
            while not await self._try(left_s):
                left_s = gate.valid_until - time.monotonic()
                other = self._holder()
                if left_s <= 0 or (other and other != settings.identity):
                    self._leading = False
                    gate.shut("the lease is lost")
                    log.error("leader election lost")
                    return
                await asyncio.sleep(min(settings.retry_s, left_s))

    async def release(self) -> None:
        """Give the Lease back, if it is ours and a request may still leave."""
        if not self._leading:
            return
        self._leading = False
        try:
            try:
                await self._give_back()
            except ApiError as error:
                if error.status != 409:
                    raise
                # a renewal that was under way when we were stopped has been done, and its answer not waited for
                self._raw = msgspec.json.decode(await self._client.get(self._path, via=self._client.election))
                if self._holder() != self._settings.identity:
                    return
                await self._give_back()
            log.info("released the lease")
        except (ApiError, FencedError) as error:
            log.warning("could not release the lease: %s", error)

    # ---------------------------------------------------------------- parts

    async def _give_back(self) -> None:
        now = _micro_time()
        spec = {
            **self._raw.get("spec", {}),
            "holderIdentity": "",
            "leaseDurationSeconds": 1,
            "renewTime": now,
            "acquireTime": now,
        }
        body = msgspec.json.encode({**self._raw, "spec": spec})
        await self._client.put(self._path, body, timeout_s=5.0, via=self._client.election)

    async def _try(self, at_most_s: float = 0.0) -> bool:
        """One attempt to get or keep the Lease; every failure is a no."""
        began = time.monotonic()
        deadline_s = self._settings.renew_deadline_s
        timeout_s = max(0.05, min(at_most_s or deadline_s, deadline_s))
        try:
            await asyncio.wait_for(self._get_or_keep(began), timeout_s)
        except TimeoutError:
            log.warning("the lease was not answered for within %.1f s", timeout_s)
            return False
        except FencedError:
            return False
        except ApiError as error:
            log.warning("lease %s/%s: %s", self._settings.namespace, self._settings.name, error)
            return False
        if self._holder() != self._settings.identity:
            return False
        self._leading = True
        self._client.gate.valid_until = began + deadline_s
        return True

    async def _get_or_keep(self, now: float) -> None:
        settings = self._settings
        if self._leading:
            try:  # the usual case: nobody touched it since our last renewal
                await self._write(self._raw, now)
                return
            except ApiError as error:
                if error.status not in (404, 409):
                    raise
        try:
            raw = msgspec.json.decode(await self._client.get(self._path, via=self._client.election))
        except ApiError as error:
            if error.status != 404:
                raise
            await self._write({}, now)
            return
        self._observe(raw, now)
        holder = self._holder()
        if holder and holder != settings.identity and now < self._seen_at + settings.duration_s:
            return
        await self._write(raw, now)

    async def _write(self, raw: dict[str, Any], now: float) -> None:
        settings = self._settings
        before = raw.get("spec") or {}
        ours = before.get("holderIdentity") == settings.identity
        stamp = _micro_time()
        spec = {
            **before,
            "holderIdentity": settings.identity,
            "leaseDurationSeconds": round(settings.duration_s),
            "acquireTime": before.get("acquireTime") if ours else stamp,
            "renewTime": stamp,
            "leaseTransitions": (before.get("leaseTransitions") or 0) + (0 if ours or not raw else 1),
        }
        resource = KINDS[Lease]
        meta = raw.get("metadata") or {"name": settings.name, "namespace": settings.namespace}
        body = msgspec.json.encode(
            {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": meta, "spec": spec}
        )
        via = self._client.election
        if raw:
            answer = await self._client.put(self._path, body, via=via)
        else:
            answer = await self._client.create(self._collection, body, via=via)
        self._observe(msgspec.json.decode(answer), now)

    def _observe(self, raw: dict[str, Any], now: float) -> None:
        """Note the record, and when it changed: the holder's clock is not to be trusted."""
        self._raw = raw
        spec = raw.get("spec") or {}
        record = (spec.get("holderIdentity"), spec.get("renewTime"), spec.get("acquireTime"))
        if record != self._record:
            self._record = record
            self._seen_at = now

    def _holder(self) -> str:
        return (self._raw.get("spec") or {}).get("holderIdentity") or ""


def _micro_time() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
