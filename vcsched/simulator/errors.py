"""What the API server answers when it says no: a `Status` object with a reason, a code and a message.

Clients decide by `reason` and code, so both are those of the real server.
"""

from __future__ import annotations

from typing import Any

_REASONS = {
    400: "BadRequest",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    409: "Conflict",
    410: "Expired",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


class ApiError(Exception):
    """Ends a request with this status."""

    def __init__(
        self, code: int, message: str, *, reason: str = "", kind: str = "", name: str = "", group: str = ""
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason or _REASONS.get(code, "Unknown")
        self.details = {k: v for k, v in (("name", name), ("group", group), ("kind", kind)) if v}
        self.retry_after_s = 0

    def status(self) -> dict[str, Any]:
        """The body of the answer."""
        details: dict[str, Any] = dict(self.details)
        if self.retry_after_s:
            details["retryAfterSeconds"] = self.retry_after_s
        body: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": str(self),
            "reason": self.reason,
            "code": self.code,
        }
        if details:
            body["details"] = details
        return body


def not_found(plural: str, group: str, name: str) -> ApiError:
    """404 for one object."""
    full = f"{plural}.{group}" if group else plural
    return ApiError(404, f'{full} "{name}" not found', kind=plural, name=name, group=group)


def conflict(plural: str, group: str, name: str, why: str) -> ApiError:
    """409 for a write that lost against another."""
    full = f"{plural}.{group}" if group else plural
    message = f'Operation cannot be fulfilled on {full} "{name}": {why}'
    return ApiError(409, message, kind=plural, name=name, group=group)


def too_many_requests(retry_after_s: int) -> ApiError:
    """429 with the seconds to wait."""
    error = ApiError(429, "the server has received too many requests, please try again later")
    error.retry_after_s = retry_after_s
    return error


def expired(message: str = "The resourceVersion for the provided watch is too old.") -> ApiError:
    """410: what the client holds is older than the history."""
    return ApiError(410, message)
