"""The `vcsched` command: a group of subcommands, one file each."""

from __future__ import annotations

import click

from vcsched.cli.simulate import simulate


@click.group()
def main() -> None:
    """vcsched: a batch scheduler for Kubernetes that starts whole jobs or nothing."""


main.add_command(simulate)
