"""`vcsched check-conf` says what the daemon would say (ux.md)."""

from __future__ import annotations

import json
from pathlib import Path

import click.testing
import pytest
import yaml

from vcsched.cli.check_conf import check, check_conf
from vcsched.framework.registry import Registry

PLUGIN = """
class {kind}:
    name = "{name}"
    def __init__(self, args):
        self.weight = args.int("{name}.weight", 1)
        if self.weight < 0:
            self.weight = args.unusable("{name}.weight", self.weight, "0 or more", 1)
        if self.weight == 99:
            raise RuntimeError("too heavy")
    def open(self, ssn): pass
    def close(self, ssn): pass

New = {kind}
"""


@pytest.fixture(autouse=True)
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plugins directory with `binpack` and `gang`; the only actions are enqueue, allocate and preempt."""
    folder = tmp_path / "plugins"
    folder.mkdir()
    for name in ("binpack", "gang"):
        (folder / f"{name}.py").write_text(PLUGIN.format(kind=name.title(), name=name))
    monkeypatch.setattr(Registry, "action_names", lambda self: frozenset({"enqueue", "allocate", "preempt"}))
    return folder


def run(plugins: Path, text: str, *options: str) -> click.testing.Result:
    arguments = ["-", "--plugins-dir", str(plugins), *options]
    return click.testing.CliRunner().invoke(check_conf, arguments, input=text)


def conf(*plugins: str, actions: str = "enqueue, allocate") -> str:
    return f'actions: "{actions}"\ntiers:\n- plugins:\n' + "".join(f"  - {plugin}\n" for plugin in plugins)


def test_a_good_file_is_called_good(plugins: Path) -> None:
    result = run(plugins, conf("name: gang", "{name: binpack, arguments: {binpack.weight: 5}}"))
    assert result.output == "<stdin>: good, 2 actions, 2 plugins\n"
    assert result.exit_code == 0


def test_findings_have_file_line_column_severity_and_message(plugins: Path, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.conf"
    file.write_text(conf("name: binpak", "{name: gang, enablePreemptable: false}", actions="preempt"))
    result = click.testing.CliRunner().invoke(check_conf, [str(file), "--plugins-dir", str(plugins)])
    assert result.output.splitlines() == [
        f'{file}:4:11  error    unknown plugin "binpak" (did you mean binpack?)',
        f"{file}:5:37  warning  plugin gang: enablePreemptable false with action preempt lets whole gangs be evicted",
    ]
    assert result.exit_code == 1


def test_what_the_daemon_would_refuse_is_called_so(plugins: Path) -> None:
    result = run(plugins, conf(actions="alocate"))
    assert result.output == (
        '<stdin>:1:11  error    unknown action "alocate" (did you mean allocate?); '
        "the daemon would refuse this file and keep the last good one\n"
    )
    assert result.exit_code == 1


def test_arguments_are_tried_on_the_plugins_themselves(plugins: Path) -> None:
    text = conf(
        "{name: binpack, arguments: {binpack.weight: '5'}}",
        "{name: gang, arguments: {gang.weight: -1, gang.wieght: 2}}",
    )
    result = run(plugins, text)
    assert [line.split(maxsplit=2)[2] for line in result.output.splitlines()] == [
        "plugin binpack: argument binpack.weight is '5', not an integer; the default 1 is used",
        "plugin gang: argument gang.weight is -1, not 0 or more; the default 1 is used",
        'plugin gang: argument "gang.wieght" is not one it reads (did you mean gang.weight?)',
    ]
    assert [line.split()[0] for line in result.output.splitlines()] == [
        "<stdin>:4:33",
        "<stdin>:5:30",
        "<stdin>:5:47",
    ]
    assert result.exit_code == 0


def test_a_plugin_that_cannot_be_made_is_an_error(plugins: Path) -> None:
    result = run(plugins, conf("{name: gang, arguments: {gang.weight: 99}}"))
    assert "plugin gang cannot be made: RuntimeError: too heavy" in result.output
    assert result.exit_code == 1


@pytest.mark.parametrize(("output", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_findings_can_be_had_as_data(plugins: Path, output: str, read: object) -> None:
    result = run(plugins, conf("name: binpak"), "-o", output)
    assert read(result.output) == [  # type: ignore[operator]
        {
            "file": "<stdin>",
            "line": 4,
            "column": 11,
            "severity": "error",
            "message": 'unknown plugin "binpak" (did you mean binpack?)',
        }
    ]
    assert result.exit_code == 1
    assert read(run(plugins, conf("name: gang"), "-o", output).output) == []  # type: ignore[operator]


def test_compatibility_switches_that_are_not_as_usual_are_explained(plugins: Path) -> None:
    result = run(plugins, conf("name: gang") + "compatibility: {roleSkip: true, victimVeto: tier}\n")
    lines = result.output.splitlines()
    assert lines[0].startswith("<stdin>: compatibility victimVeto tier. Critical pods and those of kube-system")
    assert lines[1].startswith("<stdin>: compatibility roleSkip true. A failed pod lets pods of the same shape")


@pytest.mark.parametrize("arguments", [["/no/such/file"], [], ["-", "-o", "xml"]])
def test_wrong_use_ends_with_2(arguments: list[str]) -> None:
    assert click.testing.CliRunner().invoke(check_conf, arguments).exit_code == 2


def test_a_plugins_directory_that_cannot_be_loaded_ends_in_one_line(plugins: Path) -> None:
    (plugins / "bad.py").write_text("New = (")
    result = run(plugins, conf("name: gang"))
    assert result.exit_code == 1
    assert result.output.startswith("Error: Fail to load custom plugins: ")


def test_the_check_can_be_made_without_the_command(plugins: Path) -> None:
    registry = Registry(str(plugins))
    registry.load_custom()
    assert check(conf("name: gang"), registry).is_good
    assert check("", registry).configuration is None


def test_what_the_reference_has_and_we_do_not_is_no_slip_of_the_pen() -> None:
    done = click.testing.CliRunner().invoke(
        check_conf, ["-"], input='actions: "gangpreempt"\ntiers:\n- plugins: [{name: usage}]\n'
    )

    assert done.exit_code == 1
    assert 'unknown action "gangpreempt" (the reference has it, vcsched not yet); the daemon would' in done.output
    assert 'unknown plugin "usage" (the reference has it, vcsched not yet)' in done.output
