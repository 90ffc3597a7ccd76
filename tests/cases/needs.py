"""Which cases are left out because something they need is not built (not-yet.toml)."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from .loader import HERE, Case


@dataclass(frozen=True)
class NotYet:
    """The lists of not-yet.toml; each names things that a case may need."""

    plugins: frozenset[str] = frozenset()
    switches: frozenset[str] = frozenset()
    actions: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()

    def reasons(self, case: Case) -> list[str]:
        """Everything the case needs that is not built; empty if it can run."""
        return list(dict.fromkeys(self._found(case)))

    def _found(self, case: Case) -> Iterator[str]:
        if case.data.get("skip"):
            yield f"skip: {case.data['skip']}"
        for entry in case.plugins():
            if entry["name"] in self.plugins:
                yield f"plugin {entry['name']}"
            for switch in self.switches:
                plugin, name = switch.split(".")
                if entry["name"] == plugin and entry.get(name):
                    yield f"switch {switch}"
        for action in case.actions:
            if action in self.actions:
                yield f"action {action}"
        for obj in case.objects:
            if obj["kind"] in self.kinds:
                yield f"kind {obj['kind']}"
            for field in self.fields:
                kind, name = field.split(".")
                if obj["kind"] == kind and (obj.get("spec") or {}).get(name):
                    yield f"field {field}"
        for option in case.options:
            if option in self.options:
                yield f"option {option}"


@functools.cache
def not_yet() -> NotYet:
    """What not-yet.toml says; TypeError for a list it may not have."""
    lists = tomllib.loads((HERE / "not-yet.toml").read_text())
    return NotYet(**{name: frozenset(values) for name, values in lists.items()})
