"""Plugins and actions by name: built-in ones, packages, and files of `--plugins-dir` (spec 03 §6).

A built-in name is a module of `vcsched.plugins` or `vcsched.actions` (a dash in the name is an underscore
in the module, a leading underscore marks a helper); it is imported when it is first wanted. An entry point
of group `vcsched.plugins` may add a plugin or take the place of a built-in one, and a file `<name>.py` of
the plugins directory, with a callable `New(arguments)`, of either.

Finding a plugin does not activate it: its name must appear in the tiers of the configuration.
"""

from __future__ import annotations

import importlib
import logging
import pkgutil
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from vcsched.framework.arguments import Arguments

if TYPE_CHECKING:
    from vcsched.framework.plugin import Plugin

log = logging.getLogger(__name__)

Builder = Callable[[Arguments], "Plugin"]

_PLUGINS = "vcsched.plugins"  # the package, and the group of entry points
_ACTIONS = "vcsched.actions"
_CUSTOM = "vcsched_custom_"


class PluginLoadError(Exception):
    """A custom plugin cannot be loaded; the text names the file and the cause."""


class Registry:
    """All plugins and actions that a configuration may name."""

    def __init__(self, plugins_dir: str = "") -> None:
        self._dir = Path(plugins_dir) if plugins_dir else None
        self._packaged: Mapping[str, EntryPoint] = {e.name: e for e in entry_points(group=_PLUGINS)}
        self._custom: dict[str, Builder] = {}
        self._texts: dict[Path, bytes] = {}

    def load_custom(self) -> bool:
        """Read the plugins directory (again); True if anything in it changed.

        PluginLoadError at the first file that cannot be loaded; what was loaded before then stays.
        A missing or empty directory is no error. A shared library of the reference is reported only.
        """
        if self._dir is None:
            return False
        for library in sorted(self._dir.glob("*.so")):
            log.error(
                "custom plugin %s is a Go library and cannot be loaded; write %s.py with a callable New",
                library,
                library.stem,
            )
        texts = {path: _bytes_of(path) for path in sorted(self._dir.glob("*.py"))}
        if texts == self._texts:
            return False
        self._custom = {path.stem: _load(path, text) for path, text in texts.items()}
        self._texts = texts
        return True

    def plugin_names(self) -> frozenset[str]:
        """Every name that may stand in a tier."""
        return _modules_of(_PLUGINS) | self._packaged.keys() | self._custom.keys()

    def action_names(self) -> frozenset[str]:
        """Every name that may stand in `actions`."""
        return _modules_of(_ACTIONS)

    def build_plugin(self, name: str, arguments: Arguments) -> Plugin:
        """A new plugin object; KeyError for an unknown name, else whatever the plugin's code raises."""
        plugin = self._builder(name)(arguments)
        for hook in ("open", "close"):
            if not callable(getattr(plugin, hook, None)):
                raise TypeError(f"plugin {name}: New returned {plugin!r}, which has no method {hook}")
        return plugin

    def build_action(self, name: str) -> Any:
        """A new action object, with `name` and `execute(ssn)`; KeyError for an unknown name."""
        if name not in self.action_names():
            raise KeyError(name)
        return _class_of(_ACTIONS, name)()

    def _builder(self, name: str) -> Builder:
        if name in self._custom:
            return self._custom[name]
        if name in self._packaged:
            loaded: Builder = self._packaged[name].load()
            return loaded
        if name not in _modules_of(_PLUGINS):
            raise KeyError(name)
        built_in: Builder = _class_of(_PLUGINS, name)
        return built_in


def _modules_of(package: str) -> frozenset[str]:
    path = importlib.import_module(package).__path__
    names = (module.name for module in pkgutil.iter_modules(path))
    return frozenset(name.replace("_", "-") for name in names if not name.startswith("_"))


def _class_of(package: str, name: str) -> Any:
    """The class of a module whose `name` is the module's."""
    module = importlib.import_module(f"{package}.{name.replace('-', '_')}")
    for value in vars(module).values():
        if isinstance(value, type) and getattr(value, "name", None) == name:
            return value
    raise ImportError(f'{module.__name__} has no class with name = "{name}"')


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise PluginLoadError(f"Fail to load custom plugins: {error}") from error


def _load(path: Path, text: bytes) -> Builder:
    """Run one plugin file as a module of its own and give its `New`.

    The text is compiled here, not by the import system, whose byte-code cache would write into the watched
    directory and take an edit within one second for none.
    """
    name = _CUSTOM + path.stem.replace("-", "_")
    module = ModuleType(name)
    module.__file__ = str(path)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)
        builder = getattr(module, "New", None)
        if not callable(builder):
            raise PluginLoadError(f"unexpected plugin: {path}, failed to convert PluginBuilder `New`")
    except (Exception, SystemExit) as error:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        cause = error if isinstance(error, PluginLoadError) else f"{path}: {type(error).__name__}: {error}"
        raise PluginLoadError(f"Fail to load custom plugins: {cause}") from error
    made: Builder = builder
    return made
