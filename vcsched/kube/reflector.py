"""One kind's stream of changes: list it in pages, then watch it, for ever, losing and inventing nothing.

- A cut or silent watch resumes at the last resourceVersion seen; bookmarks keep that one young.
- A version that the server has forgotten (410) means a new list, compared with what is known, so that
  deletions which nobody watched are found and nothing unchanged is passed on twice.
- A kind that the cluster does not serve is one log line; it counts as synced, and is looked for again.

Spec 02 §8 and W9. What an event means for the picture is `known`'s business.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Generic, TypeVar

import msgspec

from vcsched.kube.backoff import Backoff
from vcsched.kube.client import Client
from vcsched.kube.errors import ApiError
from vcsched.kube.known import Known, version_of
from vcsched.kube.link import Inbound, Synced
from vcsched.kube.objects import KINDS, Object
from vcsched.kube.refusal import meta_of
from vcsched.kube.settings import Pace

log = logging.getLogger(__name__)

O = TypeVar("O", bound=Object)  # noqa: E741


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)
    items: list[msgspec.Raw] | None = None


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Failure(msgspec.Struct):
    code: int = 0
    reason: str = ""
    message: str = ""


_PAGE = msgspec.json.Decoder(_Page)
_EVENT = msgspec.json.Decoder(_Event)
_FAILURE = msgspec.json.Decoder(_Failure)


_LASTING_S = 5.0  # a watch that lived this long was in order, even if nothing happened


class _ExpiredError(Exception):
    """The server no longer has the version to resume from."""


class Reflector(Generic[O]):
    """Follows one kind and puts its changes on the link.

    `vital` kinds without the right to list them never count as synced, since no decision without them
    could be right; other kinds are then taken as empty. `lag` says why the first list is not there yet. A long
    list waits for `room` after each page.
    """

    def __init__(
        self,
        client: Client,
        kind: type[O],
        put: Callable[[Inbound], None],
        keep: Callable[[O], bool] | None = None,
        *,
        vital: bool = False,
        pace: Pace | None = None,
        room: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self.kind = kind
        self.known: Known[O] = Known(kind, put, keep)
        self.synced = False
        self.lag = "first list not finished"
        self._client = client
        self._put = put
        self._room = room
        self._vital = vital
        self._pace = pace or Pace()
        self._resource = KINDS[kind]
        self._path = self._resource.path()
        self._version = ""  # where the watch goes on
        self._told = False  # whether the present connection brought anything
        self._said = ""  # the state that was logged last

    async def run(self) -> None:
        """Never returns; ends by cancellation or `FencedError`."""
        backoff = Backoff(self._pace.retry_s, self._pace.retry_most_s)
        missing = 0
        while True:
            try:
                await self._list()
                self._say("")
                missing = 0
                await self._watch(backoff)
            except _ExpiredError:
                log.info("%s: the version to resume from is gone, listing anew", self._resource.plural)
            except ApiError as error:
                if error.status in (403, 404, 405):
                    missing += 1
                    self._absent(error, missing)
                    await asyncio.sleep(self._pace.absent_s)
                    continue
                self.lag = str(error)
                wait_s = max(error.retry_after_s, backoff.next())
                log.warning("%s: %s; trying again in %.1f s", self._resource.plural, error, wait_s)
                await asyncio.sleep(wait_s)

    # ---------------------------------------------------------------- list

    async def _list(self) -> None:
        """Take everything there is, page by page. A list that expires half-way is begun anew, unpaged."""
        try:
            await self._pages(self._pace.page)
        except ApiError as error:
            if error.status != 410:
                raise
            await self._pages(0)

    async def _pages(self, size: int) -> None:
        keys: set[str] = set()
        params: dict[str, str | int] = {"limit": size} if size else {}
        first = True
        while True:
            raw = await self._client.get(self._path, params, timeout_s=self._pace.list_s)
            try:
                page = _PAGE.decode(raw)
            except msgspec.DecodeError as error:
                raise ApiError(0, "Unreadable", f"list {self._path}: {error}") from error
            if first and 0 < version_of(page.metadata.resource_version) < version_of(self._version):
                self.known.versions_restart()
            first = False
            upsert = self.known.upsert
            keys.update([upsert(item)[0] for item in page.items or ()])
            if self._room is not None:
                await self._room()
            if not page.metadata.continue_:
                break
            params["continue"] = page.metadata.continue_
        self.known.only(keys)
        self._version = page.metadata.resource_version
        self._sync()

    # ---------------------------------------------------------------- watch

    async def _watch(self, backoff: Backoff) -> None:
        """Follow the watch over any number of connections, until the server has forgotten our version."""
        while True:
            began = time.monotonic()
            self._told = False
            wait_s = 0.0
            try:
                await self._follow()
            except ApiError as error:
                if error.status == 410:
                    raise _ExpiredError from error
                if error.status in (403, 404, 405):
                    raise
                wait_s = error.retry_after_s
                log.info("%s: %s; resuming", self._resource.plural, error)
            if self._told or time.monotonic() - began > _LASTING_S:
                backoff.reset()
            else:  # a connection that ends at once without a word: do not spin
                await asyncio.sleep(max(wait_s, backoff.next()))

    async def _follow(self) -> None:
        """One connection, to its end."""
        lasts = max(1, int(self._pace.watch_s * (1.0 + random.random() / 2.0)))
        params: dict[str, str | int] = {
            "watch": "1",
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": lasts,
        }
        stream = self._client.lines(self._path, params, lasts + 30.0, self._pace.silence_s)
        async with aclosing(stream) as batches:
            async for lines in batches:
                for line in lines:
                    if line:
                        self._take(line)
                        self._told = True

    def _take(self, line: bytes) -> None:
        try:
            event = _EVENT.decode(line)
        except msgspec.DecodeError as error:
            raise ApiError(0, "Unreadable", f"watch {self._path}: {error}") from error
        if event.type in ("ADDED", "MODIFIED"):
            version = self.known.upsert(event.object)[1]
        elif event.type == "DELETED":
            version = self.known.remove(event.object)
        elif event.type == "ERROR":
            failure = _FAILURE.decode(event.object)
            if failure.code == 410:
                raise _ExpiredError
            raise ApiError(failure.code, failure.reason, f"watch {self._path}: {failure.message}")
        else:
            version = meta_of(event.object).resource_version
        if version:
            self._version = version

    # ---------------------------------------------------------------- states

    def _sync(self) -> None:
        if not self.synced:
            self.synced = True
            self.lag = ""
            self._put(Synced(self.kind))

    def _absent(self, error: ApiError, missing: int) -> None:
        """The kind is not served, or we may not list it."""
        name = f"{self._resource.plural}.{self._resource.group}".rstrip(".")
        if error.status == 403:
            text = f"no right to list and watch {name}: {error.message}"
        else:
            text = f"{name} {self._resource.version} is not served by this cluster"
        self._say(f"{text}; taken as empty, looked for again every {self._pace.absent_s:.0f} s")
        self.lag = text
        if self._vital and error.status == 403:
            return
        if not self.synced:
            self._sync()
        elif missing >= self._pace.gone_after and error.status != 403:
            self.known.only(())

    def _say(self, text: str) -> None:
        """Log a state when it begins, and its end."""
        if text == self._said:
            return
        if text:
            log.warning("%s", text)
        else:
            log.info("%s is served now", self._resource.plural)
        self._said = text
