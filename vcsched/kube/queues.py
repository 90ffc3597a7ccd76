"""The queues that must exist before the first session: `root`, and the default queue (spec 02 §12)."""

from __future__ import annotations

import logging

import msgspec
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, stop_after_attempt, wait_fixed
from tenacity import wait_random as jitter

from vcsched.kube.client import Client
from vcsched.kube.errors import ApiError
from vcsched.kube.objects import KINDS, Queue

log = logging.getLogger(__name__)

ATTEMPTS = 60


async def ensure_queue(
    client: Client, name: str, reclaimable: bool, attempts: int = ATTEMPTS, pause_s: float = 1.0
) -> None:
    """Make the queue with weight 1 if it is not there; one that is there stays as it is.

    Every error is tried again, `attempts` times in all, since the webhook that admits queues may start
    after us. Raises the last `ApiError`.
    """
    retrying = AsyncRetrying(
        stop=stop_after_attempt(attempts),
        wait=wait_fixed(pause_s) + jitter(0, pause_s / 10),
        retry=retry_if_exception_type(ApiError),
        before_sleep=lambda state: _say(name, state),
        reraise=True,
    )
    await retrying(_get_or_create, client, name, reclaimable)


async def _get_or_create(client: Client, name: str, reclaimable: bool) -> None:
    resource = KINDS[Queue]
    try:
        await client.get(resource.path("", name))
        return
    except ApiError as error:
        if error.status != 404:
            log.debug("queue %s could not be read, creating it: %s", name, error)
    body = msgspec.json.encode(
        {
            "apiVersion": resource.api_version,
            "kind": resource.kind,
            "metadata": {"name": name},
            "spec": {"weight": 1, "reclaimable": reclaimable},
        }
    )
    try:
        await client.create(resource.path(), body)
    except ApiError as error:
        if error.reason != "AlreadyExists" and error.status != 409:
            raise


def _say(name: str, state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome is not None else None
    log.warning("queue %s could not be made (try %d): %s", name, state.attempt_number, error)
