"""What ServiceAccounts asked of the API server, and what it answered: the server's own audit log.

Only who, what and the answer's code are kept, and only of ServiceAccounts, so the log stays small beside the
requests of the tests themselves.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived", "ResponseStarted"],
    "rules": [{"level": "Metadata", "userGroups": ["system:serviceaccounts"]}, {"level": "None"}],
}


class Request(NamedTuple):
    """One answered request; `resource` is "pods" or "pods/binding", `user` the full user name, `at` in unix seconds."""

    user: str
    verb: str
    resource: str
    namespace: str
    name: str
    code: int
    at: float


def read(log: Path) -> list[Request]:
    """All requests that the log holds, in order; a line that is just being written is left out."""
    *lines, _ = log.read_text().split("\n")
    return [_request(line) for line in lines]


def _request(line: str) -> Request:
    event = json.loads(line)
    what = event.get("objectRef", {})
    resource = "/".join(filter(None, (what.get("resource", ""), what.get("subresource", ""))))
    code = event.get("responseStatus", {}).get("code", 0)
    user = event["user"]["username"]
    at = datetime.fromisoformat(event["stageTimestamp"]).timestamp()
    return Request(user, event["verb"], resource, what.get("namespace", ""), what.get("name", ""), code, at)
