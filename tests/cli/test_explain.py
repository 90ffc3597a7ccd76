"""`vcsched explain`: what is said when nobody can be asked."""

import pytest
from click.testing import CliRunner

from vcsched.cli.explain import explain


@pytest.mark.parametrize("name", ["a/b/c", "a/", "/b"])
def test_a_name_that_cannot_be_one_is_wrong_use(name: str) -> None:
    done = CliRunner().invoke(explain, ["podgroup", name])

    assert done.exit_code == 2
    assert f"{name!r} is not NAMESPACE/NAME" in done.output


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        (":1", "http://127.0.0.1:1:"),
        ("localhost:1", "http://localhost:1:"),
        ("http://localhost:1/", "http://localhost:1:"),
    ],
)
def test_the_address_may_be_written_as_the_flag_is(given: str, asked: str) -> None:
    done = CliRunner().invoke(explain, ["podgroup", "llama", "--daemon", given])

    assert done.exit_code == 1
    assert f"no scheduler answers at {asked}" in done.output
    assert "--enable-healthz" in done.output
