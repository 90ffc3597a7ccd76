"""`vc-scheduler` and `vcsched run`: the daemon, with the command line of the scheduler it takes the place of."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from vcsched.daemon import app, klog
from vcsched.daemon.flags import log_flags, read_options


def vc_scheduler() -> None:
    """The console script; an existing Deployment only changes its image."""
    sys.exit(start("vc-scheduler", sys.argv[1:]))


@click.command(
    "run",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
def run(flags: tuple[str, ...]) -> None:
    """Run the scheduler; its flags are those of vc-scheduler (see: vcsched run --help)."""
    sys.exit(start("vcsched run", flags))


def start(command: str, arguments: Sequence[str]) -> int:
    """Read the flags, set up the log, run; the exit code."""
    options, shown = read_options(command, arguments)
    verbosity = klog.set_up(options.v)
    log_flags(shown)
    return app.main(options, verbosity)
