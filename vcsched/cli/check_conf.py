"""`vcsched check-conf FILE`: what the daemon would say about a scheduler configuration, before it meets it.

Everything that loading finds (spec 02 §6.3), and beyond that what only the plugins know: each is made
from its arguments, so that values of a wrong type and keys that nobody reads are found too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

import click
import yaml

from vcsched.framework import compat
from vcsched.framework.conf import Configuration, PluginEntry, parse
from vcsched.framework.findings import ConfigurationError, Finding, did_you_mean
from vcsched.framework.registry import PluginLoadError, Registry

_REFUSED = "; the daemon would refuse this file and keep the last good one"
_COLOURS = {"error": "red", "warning": "yellow"}


@dataclass(frozen=True, slots=True)
class Report:
    """Findings of one text, and the configuration if it can be put in force."""

    findings: tuple[Finding, ...]
    configuration: Configuration | None

    @property
    def is_good(self) -> bool:
        """Whether there is no error; warnings do not count."""
        return not any(finding.severity == "error" for finding in self.findings)


def check(text: str, registry: Registry) -> Report:
    """All that can be said about a configuration text without a cluster."""
    try:
        configuration = parse(text, registry.action_names(), registry.plugin_names())
    except ConfigurationError as error:
        return Report(error.findings, None)
    found = [*configuration.findings]
    for entry in configuration.entries():
        if entry.name in registry.plugin_names():
            found += _of_arguments(entry, registry)
    return Report(tuple(sorted(found, key=lambda finding: finding[:2])), configuration)


def _of_arguments(entry: PluginEntry, registry: Registry) -> Iterator[Finding]:
    reported: list[tuple[str, str]] = []
    arguments = entry.arguments.reported_to(lambda key, sentence: reported.append((key, sentence)))
    name_at = entry.places.get("name", (1, 1))
    try:
        registry.build_plugin(entry.name, arguments)
    except Exception as error:  # a custom plugin may raise anything
        message = f"plugin {entry.name} cannot be made: {type(error).__name__}: {error}"
        yield Finding(*name_at, "error", message)
        return
    for key, sentence in reported:
        yield Finding(*entry.places.get(f"arguments.{key}", name_at), "warning", sentence)
    asked = arguments.asked()
    for key in arguments.unasked():
        message = f'plugin {entry.name}: argument "{key}" is not one it reads{did_you_mean(key, asked)}'
        yield Finding(*entry.places.get(f"arguments.{key}", name_at), "warning", message)


@click.command("check-conf")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("-o", "--output", type=click.Choice(["table", "json", "yaml"]), default="table")
@click.option("--plugins-dir", default="", help="Directory of custom plugins, as the daemon is given it.")
def check_conf(file: IO[str], output: str, plugins_dir: str) -> None:
    """Check a scheduler configuration and say what is wrong, and where.

    Ends with status 0 if the daemon would run it as it is meant, 1 if there is an error.

    \b
    Example:
      vcsched check-conf /etc/volcano/scheduler.conf
      kubectl get configmap -n volcano-system volcano-scheduler-configmap \\
        -o jsonpath='{.data.volcano-scheduler\\.conf}' | vcsched check-conf -
    """
    registry = Registry(plugins_dir)
    try:
        registry.load_custom()
        text = file.read()
    except PluginLoadError as error:
        raise click.ClickException(str(error)) from None
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{file.name} is not UTF-8 text: {error}") from None
    report = check(text, registry)
    if output == "table":
        _print_table(file.name, report)
    else:
        data = [_plain(file.name, finding) for finding in report.findings]
        dump = json.dumps(data, indent=2) if output == "json" else yaml.safe_dump(data, sort_keys=False)
        click.echo(dump.rstrip())
    if not report.is_good:
        raise SystemExit(1)


def _sentence(finding: Finding) -> str:
    return finding.message + (_REFUSED if finding.refuses else "")


def _plain(file: str, finding: Finding) -> dict[str, Any]:
    return {
        "file": file,
        "line": finding.line,
        "column": finding.column,
        "severity": finding.severity,
        "message": _sentence(finding),
    }


def _print_table(file: str, report: Report) -> None:
    places = [f"{file}:{finding.line}:{finding.column}" for finding in report.findings]
    width = max(map(len, places), default=0)
    for at, finding in zip(places, report.findings, strict=True):
        severity = click.style(f"{finding.severity:<7}", fg=_COLOURS[finding.severity])
        click.echo(f"{at:<{width}}  {severity}  {_sentence(finding)}")
    if report.configuration is None:
        return
    for switch in compat.SWITCHES:
        value = compat.differences(report.configuration.compatibility).get(switch.key)
        if value is not None:
            shown = str(value).lower() if isinstance(value, bool) else value
            click.echo(f"{file}: compatibility {switch.key} {shown}. {switch.why}")
    if not report.findings:
        plugins = sum(1 for _ in report.configuration.entries())
        click.echo(f"{file}: good, {len(report.configuration.actions)} actions, {plugins} plugins")
