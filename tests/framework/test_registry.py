"""Plugins and actions by name, built-in and custom (spec 03 §6)."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from vcsched.framework import registry as registry_module
from vcsched.framework.arguments import Arguments
from vcsched.framework.registry import PluginLoadError, Registry

PLUGIN = """
class Mine:
    name = "{name}"
    def __init__(self, args):
        self.weight = args.int("weight", {weight})
    def open(self, ssn): pass
    def close(self, ssn): pass

New = Mine
"""


def write(folder: Path, name: str, weight: int = 1) -> None:
    (folder / f"{name}.py").write_text(PLUGIN.format(name=name, weight=weight))


@pytest.fixture
def built_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packages that stand for the built-in plugins and actions."""
    root = tmp_path / "built_in"
    for package in ("stock_plugins", "stock_actions"):
        (root / package).mkdir(parents=True)
        (root / package / "__init__.py").write_text("")
        (root / package / "_helper.py").write_text("")
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.setattr(registry_module, "_PLUGINS", "stock_plugins")
    monkeypatch.setattr(registry_module, "_ACTIONS", "stock_actions")
    yield root
    for name in [name for name in sys.modules if name.startswith("stock_")]:
        del sys.modules[name]


def test_a_built_in_plugin_is_a_module_of_its_name(built_in: Path) -> None:
    module = PLUGIN.format(name="task-topology", weight=3)
    (built_in / "stock_plugins" / "task_topology.py").write_text(module)
    registry = Registry()
    assert registry.plugin_names() == {"task-topology"}
    assert registry.build_plugin("task-topology", Arguments()).weight == 3
    with pytest.raises(KeyError):
        registry.build_plugin("task_topology", Arguments())


def test_an_action_is_found_by_its_name(built_in: Path) -> None:
    text = "class Allocate:\n    name = 'allocate'\n    def execute(self, ssn): return 'done'\n"
    (built_in / "stock_actions" / "allocate.py").write_text(text)
    registry = Registry()
    assert registry.action_names() == {"allocate"}
    assert registry.build_action("allocate").execute(None) == "done"
    with pytest.raises(KeyError):
        registry.build_action("enqueue")


def test_a_module_without_a_class_of_its_name_is_told(built_in: Path) -> None:
    (built_in / "stock_plugins" / "gang.py").write_text("class Gang:\n    name = 'gong'\n")
    with pytest.raises(ImportError, match=r"stock_plugins.gang has no class with name = \"gang\""):
        Registry().build_plugin("gang", Arguments())


def test_only_names_are_looked_at_until_a_plugin_is_wanted(built_in: Path) -> None:
    (built_in / "stock_plugins" / "gang.py").write_text("raise RuntimeError('imported')")
    registry = Registry()
    assert registry.plugin_names() == {"gang"}
    with pytest.raises(RuntimeError, match="imported"):
        registry.build_plugin("gang", Arguments())


def test_a_custom_plugin_is_a_file_with_a_callable_new(tmp_path: Path) -> None:
    write(tmp_path, "spot-only", weight=7)
    registry = Registry(str(tmp_path))
    assert registry.load_custom()
    assert "spot-only" in registry.plugin_names()
    assert registry.build_plugin("spot-only", Arguments()).weight == 7
    assert registry.build_plugin("spot-only", Arguments({"weight": 9})).weight == 9


def test_a_custom_plugin_may_take_the_place_of_a_built_in_one(built_in: Path, tmp_path: Path) -> None:
    (built_in / "stock_plugins" / "gang.py").write_text(PLUGIN.format(name="gang", weight=1))
    custom = tmp_path / "custom"
    custom.mkdir()
    write(custom, "gang", weight=2)
    registry = Registry(str(custom))
    assert registry.build_plugin("gang", Arguments()).weight == 1
    registry.load_custom()
    assert registry.build_plugin("gang", Arguments()).weight == 2


def test_an_entry_point_adds_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "installed_plugin.py").write_text(PLUGIN.format(name="packaged", weight=4))
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("packaged", "installed_plugin:New", "vcsched.plugins")
    monkeypatch.setattr(registry_module, "entry_points", lambda group: [point])
    registry = Registry()
    assert "packaged" in registry.plugin_names()
    assert registry.build_plugin("packaged", Arguments()).weight == 4


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_missing_or_empty_directory_is_no_error(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    assert not Registry(str(tmp_path / name)).load_custom()
    assert not Registry("").load_custom()


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("x = 1", "failed to convert PluginBuilder `New`"),
        ("New = 5", "failed to convert PluginBuilder `New`"),
        ("New = (", "SyntaxError"),
        ("import no_such_module", "no_such_module"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("\0", "bad.py"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_named_with_the_cause(tmp_path: Path, text: str, part: str) -> None:
    (tmp_path / "bad.py").write_text(text)
    write(tmp_path, "good")
    with pytest.raises(PluginLoadError) as caught:
        Registry(str(tmp_path)).load_custom()
    assert str(caught.value).startswith("Fail to load custom plugins: ")
    assert part in str(caught.value)
    assert "bad.py" in str(caught.value)
    assert "vcsched_custom_bad" not in sys.modules


def test_after_a_bad_edit_the_last_good_plugins_stay(tmp_path: Path) -> None:
    write(tmp_path, "mine", weight=1)
    registry = Registry(str(tmp_path))
    registry.load_custom()
    (tmp_path / "mine.py").write_text("New = (")
    with pytest.raises(PluginLoadError):
        registry.load_custom()
    assert registry.build_plugin("mine", Arguments()).weight == 1
    write(tmp_path, "mine", weight=2)
    assert registry.load_custom()
    assert registry.build_plugin("mine", Arguments()).weight == 2


def test_files_may_come_go_and_change_between_loads(tmp_path: Path) -> None:
    write(tmp_path, "a")
    registry = Registry(str(tmp_path))
    assert registry.load_custom()
    assert not registry.load_custom()
    write(tmp_path, "b")
    write(tmp_path, "a", weight=5)
    assert registry.load_custom()
    assert registry.build_plugin("a", Arguments()).weight == 5
    (tmp_path / "a.py").unlink()
    assert registry.load_custom()
    assert "a" not in registry.plugin_names()
    assert "b" in registry.plugin_names()
    assert not (tmp_path / "__pycache__").exists()


def test_a_go_library_is_reported_and_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "magic.so").write_bytes(b"\x7fELF")
    write(tmp_path, "mine")
    registry = Registry(str(tmp_path))
    assert registry.load_custom()
    assert "magic" not in registry.plugin_names()
    assert "magic.so is a Go library" in caplog.text


def test_what_new_returns_must_be_a_plugin(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("def New(arguments): return 5")
    registry = Registry(str(tmp_path))
    registry.load_custom()
    with pytest.raises(TypeError, match="plugin odd: New returned 5, which has no method open"):
        registry.build_plugin("odd", Arguments())
