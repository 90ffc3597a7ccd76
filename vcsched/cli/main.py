"""The `vcsched` command: a group of subcommands, one file each."""

from __future__ import annotations

import click

from vcsched.cli.check_conf import check_conf
from vcsched.cli.run import run
from vcsched.cli.simulate import simulate


@click.group()
def main() -> None:
    """vcsched: a batch scheduler for Kubernetes that starts whole jobs or nothing."""


for command in (run, simulate, check_conf):
    main.add_command(command)
