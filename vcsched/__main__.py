"""`python -m vcsched` is the command `vcsched`."""

from vcsched.cli.main import main

main(prog_name="vcsched")
