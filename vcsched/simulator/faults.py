"""Faults on demand: what goes wrong between a client and a real API server, when and as often as wanted.

A fault names the requests it hits (verb and resource patterns), what happens to them, and how often: the
first `count` hits after `after`, or each with a `probability` from a seeded generator. Set from Python
(`Faults.add`) or over HTTP at `/simulator/faults`:

    POST   {"verb": "create", "resource": "pods/binding", "code": 429, "retry_after_s": 2, "count": 5}
    POST   {"verb": "watch", "resource": "pods", "action": "cut"}
    GET    the faults with their hit counts        DELETE  all of them

Actions: `error` answers with `code`; `lost` does the work and closes the connection without an answer;
`latency` waits `seconds` first; for watches `cut` ends the stream without a goodbye, `stall` sends nothing
for `seconds`, `gone` sends the 410 error event. These three hit open streams at once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from typing import Literal

import msgspec

Action = Literal["error", "lost", "latency", "cut", "stall", "gone"]
WATCH_ACTIONS = ("cut", "stall", "gone")


class Fault(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """One rule. Patterns are the shell's; the verbs are those of RBAC (get, list, watch, create, …)."""

    verb: str = "*"
    resource: str = "*"  # "pods", "pods/binding", "podgroups.scheduling.volcano.sh"
    namespace: str = "*"
    name: str = "*"
    action: Action = "error"
    code: int = 500
    retry_after_s: int = 1  # with code 429
    seconds: float = 1.0  # of latency or stall
    after: int = 0  # let so many pass first
    count: int | None = 1  # hit so many; None: without end
    probability: float = 1.0
    seen: int = 0
    hits: int = 0


class Faults:
    """The rules in force. `active` is False while there are none, so that a request costs nothing."""

    def __init__(self, seed: int = 0) -> None:
        self.active = False
        self._faults: list[Fault] = []
        self._random = random.Random(seed)
        self.on_add: Callable[[], None] = lambda: None  # the server wakes its open streams

    def add(self, fault: Fault) -> Fault:
        """Put a rule in force; the object's `hits` can be watched."""
        self._faults.append(fault)
        self.active = True
        self.on_add()
        return fault

    def clear(self) -> None:
        """Lift all rules."""
        self._faults.clear()
        self.active = False

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._faults)

    def hit(self, verb: str, resource: str, namespace: str, name: str, *, watch: bool = False) -> Fault | None:
        """The first rule that hits this request now. With `watch` only the actions on open streams count."""
        for fault in self._faults:
            if watch != (fault.action in WATCH_ACTIONS):
                continue
            if fault.count is not None and fault.hits >= fault.count:
                continue
            if not (
                fnmatchcase(verb, fault.verb)
                and fnmatchcase(resource, fault.resource)
                and fnmatchcase(namespace, fault.namespace)
                and fnmatchcase(name, fault.name)
            ):
                continue
            fault.seen += 1
            if fault.seen <= fault.after:
                continue
            if fault.probability < 1 and self._random.random() >= fault.probability:
                continue
            fault.hits += 1
            return fault
        return None
