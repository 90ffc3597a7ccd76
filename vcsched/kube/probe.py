"""What the API server is and what our role allows, asked once at start so that the log can name what lacks.

Nothing is decided here: a right that is missing shows itself as a 403 when it is used, and the writer and
reflectors deal with it. An administrator should still read it at start and not find it out at night.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from vcsched.kube.client import Client
from vcsched.kube.errors import ApiError
from vcsched.kube.objects import KINDS, Object, Pod, PodGroup, Queue

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


class Right(NamedTuple):
    """A verb on a resource; `resource` may name a subresource ("pods/binding")."""

    verb: str
    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}" + (f" ({self.group})" if self.group else "")


class _Version(msgspec.Struct, rename="camel"):
    git_version: str = ""


class _Answer(msgspec.Struct):
    allowed: bool = False


class _Review(msgspec.Struct):
    status: _Answer = msgspec.field(default_factory=_Answer)


async def server_version(client: Client) -> str:
    """Such as "v1.36.1". Raises `ApiError` when the server cannot be reached or does not let us in."""
    return msgspec.json.decode(await client.get("/version"), type=_Version).git_version


async def missing_rights(client: Client, kinds: Iterable[type[Object]]) -> list[str]:
    """The rights we would use and do not have, each as text; nothing if the server does not tell.

    Where patch and update serve the same end, only the lack of both is told.
    """
    rights = [Right(verb, KINDS[k].group, KINDS[k].plural) for k in kinds for verb in ("list", "watch")]
    pods, podgroups, queues = KINDS[Pod], KINDS[PodGroup], KINDS[Queue]
    rights += [
        Right("get", "", pods.plural),
        Right("delete", "", pods.plural),
        Right("create", "", "pods/binding"),
        Right("create", "", "events"),
        Right("patch", "", "events"),
        Right("get", queues.group, queues.plural),
        Right("create", queues.group, queues.plural),
    ]
    either = [
        ("", "pods/status"),
        (podgroups.group, podgroups.plural),
        (queues.group, "queues/status"),
    ]
    patches = [Right("patch", group, resource) for group, resource in either]
    updates = [Right("update", group, resource) for group, resource in either]
    asked = rights + patches + updates
    try:
        allowed = dict(zip(asked, await asyncio.gather(*(_may(client, r) for r in asked)), strict=True))
    except ApiError:
        return []
    lacking = [str(right) for right in rights if not allowed[right]]
    for patch, update in zip(patches, updates, strict=True):
        if not allowed[patch] and not allowed[update]:
            lacking.append(f"patch or {update}")
    return lacking


async def _may(client: Client, right: Right) -> bool:
    resource, _, sub = right.resource.partition("/")
    attributes = {"verb": right.verb, "group": right.group, "resource": resource, "subresource": sub}
    body = msgspec.json.encode(
        {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
    )
    return msgspec.json.decode(await client.create(_REVIEWS, body), type=_Review).status.allowed
