"""What can go wrong with a request, as one exception that carries what the retry rules need."""

from __future__ import annotations

import msgspec


class ApiError(Exception):
    """The API server refused, or no answer came.

    `status` is the HTTP status, 0 if none came; `reason` the API's machine-readable reason ("NotFound",
    "Expired", …); `retry_after_s` what the server asked for, 0 for nothing; `sent` is False when the request
    surely did not reach the server.
    """

    def __init__(self, status: int, reason: str, message: str, retry_after_s: float = 0.0, sent: bool = True) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after_s = retry_after_s
        self.sent = sent

    def __reduce__(self) -> tuple[type[ApiError], tuple[object, ...]]:
        return ApiError, (self.status, self.reason, self.message, self.retry_after_s, self.sent)

    def __str__(self) -> str:
        return f"{self.message} ({self.status} {self.reason})" if self.status else self.message

    @property
    def forbidden_by_role(self) -> bool:
        """Whether a missing right is the cause; admission plugins answer 403 as well, for other reasons."""
        return self.status == 403 and "admission" not in self.message and "terminated" not in self.message

    @property
    def worth_a_retry(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in (0, 401, 408, 409, 429) or self.status >= 500


class LoginError(Exception):
    """The credentials cannot be loaded; the text names the file and the cause."""


class FencedError(Exception):
    """No request may leave any more: the lease is lost or the daemon is stopping."""


class _Status(msgspec.Struct):
    reason: str = ""
    message: str = ""


_STATUS = msgspec.json.Decoder(_Status)


def from_answer(status: int, body: bytes, retry_after: str | None, what: str) -> ApiError:
    """The error that an HTTP answer stands for; `what` names the request, for answers without a message."""
    try:
        told = _STATUS.decode(body)
    except msgspec.DecodeError:
        told = _Status(message=body[:200].decode("utf-8", "replace").strip())
    try:
        wait_s = max(0.0, float(retry_after or 0))
    except ValueError:  # an HTTP date, which the API server never sends
        wait_s = 1.0
    return ApiError(status, told.reason or "", told.message or f"{what} was answered {status}", wait_s)
