"""The `vcsched` command: a group of subcommands, one file each, loaded when it is wanted.

`vcsched explain` needs neither numpy nor an HTTP server, and a command at a prompt should answer at once.
"""

from __future__ import annotations

from importlib import import_module

import click

_COMMANDS = {
    "run": "Run the scheduler with the flags of vc-scheduler.",
    "demo": "Show the scheduler at work on an embedded cluster, in under a minute.",
    "simulate": "Serve a Kubernetes API from memory, with nodes and pods that run.",
    "explain": "Say why a PodGroup waits.",
    "check-conf": "Check a scheduler configuration and say what is wrong, and where.",
}
"""Name -> the line in `vcsched --help`. The command is the function of that name in the module of that name."""


class Commands(click.Group):
    """Subcommands by name of their module."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        stem = name.replace("-", "_")
        command: click.Command = getattr(import_module(f"vcsched.cli.{stem}"), stem)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=Commands)
@click.version_option(package_name="vcsched")
def main() -> None:
    """vcsched: a batch scheduler for Kubernetes that starts whole jobs or nothing."""
