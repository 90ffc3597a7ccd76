"""What a configuration says that its author hardly meant (spec 02 §6.3 and W21, spec 04 §1, spec 05 §2).

One finding refuses the text, as in the reference: proportion and a hierarchical drf in one tier.
Everything else here is said and left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from vcsched.framework.findings import Finding, did_you_mean

if TYPE_CHECKING:
    from vcsched.framework.conf import Configuration, PluginEntry, Tier

_CONFLICT = "proportion and drf with hierarchy enabled conflicts"


def advise(
    configuration: Configuration,
    known_actions: Collection[str] | None,
    known_plugins: Collection[str] | None,
) -> Iterator[Finding]:
    """All findings about names and combinations, in no particular order."""
    return chain(
        _unknown_names(configuration, known_actions, known_plugins),
        _listed_twice(configuration),
        _hierarchy_conflict(configuration),
        _queue_plugins(configuration),
        _eviction(configuration),
    )


def _at(entry: PluginEntry, key: str = "name") -> tuple[int, int]:
    return entry.places.get(key) or entry.places.get("name", (1, 1))


def _unknown_names(
    conf: Configuration, actions: Collection[str] | None, plugins: Collection[str] | None
) -> Iterator[Finding]:
    for entry in conf.entries():
        if not entry.name:
            yield Finding(*_at(entry), "error", "a plugin without a name; it is skipped")
        elif plugins is not None and entry.name not in plugins:
            hint = did_you_mean(entry.name, plugins) or "; it is skipped"
            yield Finding(*_at(entry), "error", f'unknown plugin "{entry.name}"{hint}')
    for name in conf.configurations:
        if actions is not None and name not in actions:
            place = conf.places.get("configurations", (1, 1))
            hint = did_you_mean(name, actions)
            yield Finding(*place, "warning", f'configurations: no action is called "{name}"{hint}')


def _listed_twice(conf: Configuration) -> Iterator[Finding]:
    seen: set[str] = set()
    for entry in conf.entries():
        if entry.name and entry.name in seen:
            message = f"plugin {entry.name} is listed above; this entry is ignored"
            yield Finding(*_at(entry), "warning", message)
        seen.add(entry.name)


def _hierarchy_conflict(conf: Configuration) -> Iterator[Finding]:
    def hierarchical(tier: Tier) -> list[PluginEntry]:
        return [e for e in tier.plugins if e.name == "drf" and e.is_enabled("enableHierarchy")]

    with_proportion = [tier for tier in conf.tiers if any(e.name == "proportion" for e in tier.plugins)]
    for tier in conf.tiers:
        for entry in hierarchical(tier):
            at = _at(entry, "enableHierarchy")
            if tier in with_proportion:
                yield Finding(*at, "error", f"{_CONFLICT}; take one of them out", refuses=True)
            elif with_proportion:
                yield Finding(*at, "warning", f"{_CONFLICT}, also across tiers; take one of them out")


def _queue_plugins(conf: Configuration) -> Iterator[Finding]:
    entries = {entry.name: entry for entry in conf.entries()}
    if "capacity" in entries and "proportion" in entries:
        message = "plugins capacity and proportion both share the queues; use one of them"
        yield Finding(*_at(entries["capacity"]), "warning", message)


def _eviction(conf: Configuration) -> Iterator[Finding]:
    place = conf.places.get("actions", (1, 1))
    gang_actions = [name for name in conf.actions if name in ("gangpreempt", "gangreclaim")]
    single = [name for name in conf.actions if name in ("preempt", "reclaim")]
    if gang_actions and single:
        message = f"actions {gang_actions[0]} and {single[0]} are not meant to be used together"
        yield Finding(*place, "warning", message)
    for action, switch in (("preempt", "enablePreemptable"), ("reclaim", "enableReclaimable")):
        for entry in conf.entries():
            if action in conf.actions and entry.name == "gang" and not entry.is_enabled(switch):
                message = f"plugin gang: {switch} false with action {action} lets whole gangs be evicted"
                yield Finding(*_at(entry, switch), "warning", message)
