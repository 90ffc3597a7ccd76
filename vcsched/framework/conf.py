"""The scheduler configuration: actions, tiers of plugins, arguments (spec 02 §6, spec 03 §4).

`parse` turns the text of `scheduler.conf` into a frozen `Configuration` or raises `ConfigurationError`
with everything that is wrong and where. The grammar is the reference's: a wrong type or an unknown action
refuses the whole text, an unknown plugin is skipped, other unknown keys are ignored. What the reference
passes over in silence is collected in `findings`. One key is ours: `compatibility` (see `compat`).

Which text is in force, and what happens to a bad one, is `conf_loader`'s business.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import yaml

from vcsched.framework import compat, switches, yaml11
from vcsched.framework.arguments import Arguments
from vcsched.framework.compat import Compatibility
from vcsched.framework.conf_advice import advise
from vcsched.framework.findings import ConfigurationError, Finding, Severity, did_you_mean

Place = tuple[int, int]

_TOP = ("actions", "tiers", "configurations", "metrics", "compatibility")
_PLUGIN = ("name", "arguments", *switches.DEFAULTS)


@dataclass(frozen=True, slots=True)
class PluginEntry:
    """One plugin of a tier. `places` has line and column of its keys, for messages."""

    name: str
    enabled: Mapping[str, bool]  # every enable switch of spec 03 §4
    arguments: Arguments
    places: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)

    def is_enabled(self, switch: str) -> bool:
        """Whether the plugin answers at the points of this switch; KeyError for a name that is no switch."""
        return self.enabled[switch]


@dataclass(frozen=True, slots=True)
class Tier:
    """Plugins of one priority, in order."""

    plugins: tuple[PluginEntry, ...]


@dataclass(frozen=True, slots=True)
class Configuration:
    """A whole configuration. `text` is what it was read from, `findings` what is doubtful in it."""

    actions: tuple[str, ...]
    tiers: tuple[Tier, ...] = ()
    configurations: Mapping[str, Arguments] = field(default_factory=dict)  # action -> its arguments
    metrics: Mapping[str, str] = field(default_factory=dict)
    compatibility: Compatibility = field(default_factory=Compatibility)
    text: str = field(default="", compare=False, repr=False)
    findings: tuple[Finding, ...] = field(default=(), compare=False)
    places: Mapping[str, Place] = field(default_factory=dict, compare=False, repr=False)

    def entries(self) -> Iterator[PluginEntry]:
        """All plugin entries in tier order."""
        return (entry for tier in self.tiers for entry in tier.plugins)

    def arguments_of(self, action: str) -> Arguments:
        """The arguments of an action, empty where none are configured."""
        return self.configurations.get(action) or Arguments(owner=f"action {action}")

    def is_hierarchical(self, plugin: str) -> bool:
        """Whether the first entry of this plugin has `enableHierarchy` on."""
        return next((e.is_enabled("enableHierarchy") for e in self.entries() if e.name == plugin), False)


def parse(
    text: str,
    known_actions: Collection[str] | None = None,
    known_plugins: Collection[str] | None = None,
) -> Configuration:
    """Read a configuration text. Without known names every action or plugin name counts as known."""
    reader = _Reader()
    try:
        configuration = reader.read(text, known_actions)
    except yaml11.YamlError as error:
        reader.add(error.line, error.column, "error", str(error), refuses=True)
        configuration = Configuration(())
    findings = [*reader.findings, *advise(configuration, known_actions, known_plugins)]
    findings.sort(key=lambda finding: finding[:2])
    if any(finding.refuses for finding in findings):
        raise ConfigurationError(findings)
    return Configuration(
        configuration.actions,
        tuple(Tier(tuple(t)) for t in _without_repetition(configuration.tiers)),
        configuration.configurations,
        configuration.metrics,
        configuration.compatibility,
        text,
        tuple(findings),
        configuration.places,
    )


def from_mapping(
    data: Mapping[str, Any],
    known_actions: Collection[str] | None = None,
    known_plugins: Collection[str] | None = None,
) -> Configuration:
    """A configuration from plain data of the same structure; `actions` may be a list of names."""
    actions = data.get("actions", "")
    plain = dict(data) | {"actions": actions if isinstance(actions, str) else ", ".join(actions)}
    return parse(json.dumps(plain, ensure_ascii=False), known_actions, known_plugins)


def _without_repetition(tiers: tuple[Tier, ...]) -> Iterator[list[PluginEntry]]:
    seen: set[str] = set()
    for tier in tiers:
        kept = []
        for entry in tier.plugins:
            if entry.name not in seen:
                kept.append(entry)
            seen.add(entry.name)
        yield kept


class _Reader:
    """Walks the node tree and collects findings with their places."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []

    def add(self, line: int, column: int, severity: Severity, message: str, *, refuses: bool = False) -> None:
        self.findings.append(Finding(line, column, severity, message, refuses))

    def refuse(self, node: yaml.Node, message: str) -> None:
        self.add(*yaml11.place(node), "error", message, refuses=True)

    def read(self, text: str, known_actions: Collection[str] | None) -> Configuration:
        root = yaml11.compose(text)
        keys = self._map(root, "the configuration", _TOP)
        if root is not None and not isinstance(root, yaml.MappingNode) and not _is_null(root):
            return Configuration(())
        actions = self._actions(keys.get("actions"), text, known_actions)
        return Configuration(
            actions,
            tuple(self._tier(item) for item in self._list(keys.get("tiers"), "tiers")),
            self._configurations(keys.get("configurations")),
            self._metrics(keys.get("metrics")),
            self._compatibility(keys.get("compatibility")),
            places={key: yaml11.place(node) for key, node in keys.items()},
        )

    # -- parts of the file

    def _actions(self, node: yaml.Node | None, text: str, known: Collection[str] | None) -> tuple[str, ...]:
        value = self._text(node, "actions")
        if node is not None and not isinstance(node, yaml.ScalarNode):
            return ()
        names = tuple(name.strip() for name in value.split(","))
        at = 0
        for name in names:
            found = text.find(name, node.start_mark.index + at) if node is not None else -1
            at = max(at, found - node.start_mark.index + len(name)) if node is not None else 0
            if name and (known is None or name in known):
                continue
            line, column = _place_at(text, found) if name and found >= 0 else _place_of(node)
            if not value.strip():
                message = "actions is empty; name at least one, as in: enqueue, allocate, backfill"
            elif not name:
                message = "actions has an empty name; take the spare comma away"
            else:
                message = f'unknown action "{name}"{did_you_mean(name, known or ())}'
            self.add(line, column, "error", message, refuses=True)
        return names

    def _tier(self, node: yaml.Node) -> Tier:
        keys = self._map(node, "a tier", ("plugins",))
        return Tier(tuple(self._plugin(item) for item in self._list(keys.get("plugins"), "plugins")))

    def _plugin(self, node: yaml.Node) -> PluginEntry:
        keys = self._map(node, "a plugin", _PLUGIN, "a switch")
        name = self._text(keys.get("name"), "the name of a plugin")
        enabled = dict(switches.DEFAULTS)
        for switch in switches.DEFAULTS.keys() & keys.keys():
            value = yaml11.value_of(keys[switch])
            if isinstance(value, bool):
                enabled[switch] = value
            elif value is not None:
                self.refuse(keys[switch], f"plugin {name}: {switch} is {value!r}; it must be true or false, unquoted")
        places = {key: yaml11.place(item) for key, item in keys.items()}
        arguments = self._arguments(keys.get("arguments"), f"plugin {name}", places)
        places.setdefault("name", yaml11.place(node))
        return PluginEntry(name, MappingProxyType(enabled), arguments, places)

    def _configurations(self, node: yaml.Node | None) -> Mapping[str, Arguments]:
        found: dict[str, Arguments] = {}
        for item in self._list(node, "configurations"):
            keys = self._map(item, "an entry of configurations", ("name", "arguments"))
            name = self._text(keys.get("name"), "the name of an entry of configurations")
            arguments = self._arguments(keys.get("arguments"), f"action {name}", {})
            if name in found:
                self.add(
                    *yaml11.place(item),
                    "warning",
                    f"action {name} is configured above; this entry is ignored",
                )
            found.setdefault(name, arguments)
        return MappingProxyType(found)

    def _arguments(self, node: yaml.Node | None, owner: str, places: dict[str, Place]) -> Arguments:
        values: dict[str, Any] = {}
        for key, (at, item) in self._pairs(node, f"the arguments of {owner}").items():
            values[key] = yaml11.value_of(item)
            places[f"arguments.{key}"] = at
        return Arguments(values, owner)

    def _metrics(self, node: yaml.Node | None) -> Mapping[str, str]:
        pairs = self._pairs(node, "metrics")
        return MappingProxyType({key: self._text(item, f"metrics.{key}") for key, (_, item) in pairs.items()})

    def _compatibility(self, node: yaml.Node | None) -> Compatibility:
        keys = self._map(node, "compatibility", ("profile", *compat.BY_KEY), "a compatibility switch")
        profile = self._text(keys.pop("profile", None), "compatibility.profile") or "default"
        if node is not None and profile not in compat.PROFILES:
            self.refuse(node, f'compatibility: profile is "{profile}"; it must be default or reference')
        chosen: dict[str, Any] = {}
        for key in compat.BY_KEY.keys() & keys.keys():
            try:
                chosen[compat.BY_KEY[key].field] = compat.read_switch(key, yaml11.value_of(keys[key]))
            except ValueError as error:
                self.refuse(keys[key], str(error))
        return Compatibility.of("reference" if profile == "reference" else "default", **chosen)

    # -- kinds of nodes

    def _pairs(self, node: yaml.Node | None, what: str) -> dict[str, tuple[Place, yaml.Node]]:
        """Key -> (place of the key, value) of a map; null and nothing are empty."""
        if node is None or _is_null(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            self.refuse(node, f"{what} must be a map, not {_kind(node)}")
            return {}
        return {
            yaml11.text_of(key): (yaml11.place(key), item)
            for key, item in yaml11.pairs(node)
            if isinstance(key, yaml.ScalarNode)
        }

    def _map(
        self, node: yaml.Node | None, what: str, known: Collection[str], noun: str = "a known key"
    ) -> dict[str, yaml.Node]:
        """The known keys of a map; others are ignored with a warning."""
        pairs = self._pairs(node, what)
        for key, (at, _) in pairs.items():
            if key not in known:
                owner = f"plugin {self._text(pairs['name'][1], 'name')}" if "name" in pairs else what
                self.add(*at, "warning", f'{owner}: "{key}" is not {noun}{did_you_mean(key, known)}; ignored')
        return {key: item for key, (_, item) in pairs.items() if key in known}

    def _list(self, node: yaml.Node | None, what: str) -> list[yaml.Node]:
        if node is None or _is_null(node):
            return []
        if not isinstance(node, yaml.SequenceNode):
            self.refuse(node, f"{what} must be a list, not {_kind(node)}")
            return []
        return list(node.value)

    def _text(self, node: yaml.Node | None, what: str) -> str:
        if node is None:
            return ""
        if not isinstance(node, yaml.ScalarNode):
            self.refuse(node, f"{what} must be text, not {_kind(node)}")
            return ""
        return yaml11.text_of(node)


def _is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and yaml11.value_of(node) is None


def _kind(node: yaml.Node) -> str:
    if isinstance(node, yaml.ScalarNode):
        return "text"
    return "a list" if isinstance(node, yaml.SequenceNode) else "a map"


def _place_of(node: yaml.Node | None) -> Place:
    return yaml11.place(node) if node is not None else (1, 1)


def _place_at(text: str, index: int) -> Place:
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)
