"""What the pages say about names, flags, points and examples is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.generated import PARTS, ROOT, renewed, specified
from vcsched.cli.main import main
from vcsched.daemon.flags import FLAGS
from vcsched.framework.compat import SWITCHES
from vcsched.framework.conf import parse
from vcsched.framework.conf_loader import BUILT_IN
from vcsched.framework.findings import NOT_YET
from vcsched.framework.metrics import Metrics
from vcsched.framework.points import Point, Points
from vcsched.framework.registry import Registry
from vcsched.framework.switches import DEFAULTS

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "examples").glob("*.md")])


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def between(text: str, name: str) -> str:
    """What stands between the comments of a part."""
    return text.partition(f"<!-- {name} -->")[2].partition("<!-- end -->")[0]


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def ticked(text: str) -> set[str]:
    """Every word in backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))


@pytest.mark.parametrize("name", dict.fromkeys(part.page for part in PARTS))
def test_the_generated_parts_are_as_the_code_is(name: str) -> None:
    text = (ROOT / name).read_text()

    assert renewed(name, text) == text, "run: make docs"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    targets = [t.partition("#")[0] for t in re.findall(r"\]\(([^)]+)\)", path.read_text()) if "://" not in t]

    assert [target for target in targets if target and not (path.parent / target).exists()] == []


def test_the_findings_know_what_is_not_built_yet() -> None:
    there = Registry()
    wanted = specified("Built-in actions") | specified("Built-in names")

    assert wanted - there.action_names() - there.plugin_names() == NOT_YET


def test_every_compatibility_switch_is_explained() -> None:
    assert {switch.key for switch in SWITCHES} <= ticked(page("configuration.md"))


def test_every_switch_of_a_plugin_is_named() -> None:
    assert ticked(between(page("configuration.md"), "switches")) == set(DEFAULTS)


def test_the_built_in_configuration_is_the_one_shown() -> None:
    assert blocks(page("configuration.md"), "yaml")[0] == BUILT_IN


@pytest.mark.parametrize("number", [0, 1])
def test_a_configuration_that_is_shown_is_good(number: int) -> None:
    registry = Registry()
    text = blocks(page("configuration.md"), "yaml")[number]

    assert parse(text, registry.action_names(), registry.plugin_names()).findings == ()


def test_every_point_is_in_the_list() -> None:
    points = {name for name, value in vars(Points()).items() if isinstance(value, Point)}

    first_column = "".join(line.split("|")[1] for line in between(page("plugins.md"), "points").splitlines()[3:])
    assert ticked(first_column) == points


def test_the_plugin_that_is_shown_can_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "spot_only.py").write_text(blocks(page("plugins.md"), "python")[0])
    registry = Registry(str(tmp_path))

    assert registry.load_custom()
    assert "spot_only" in registry.plugin_names()


def test_flags_that_are_named_exist() -> None:
    known = {f"--{flag.name}" for flag in FLAGS}
    named = set(re.findall(r"`(--[a-z-]+[a-z])", page("operations.md")))

    assert named - known == set()


def test_metrics_that_are_named_exist() -> None:
    exposed = Metrics().exposition().decode()
    named = re.findall(r"`((?:volcano|vcsched)_\w+)", page("operations.md"))

    assert named
    assert [name for name in named if f"# TYPE {name} " not in exposed] == []


def test_the_readme_s_commands_exist() -> None:
    text = (ROOT / "README.md").read_text()
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))

    assert set(re.findall(r"^    make ([a-z-]+)", text, re.MULTILINE)) <= targets
    commands = set(main.list_commands(None))  # type: ignore[arg-type]
    assert set(re.findall(r"vcsched (run|demo|simulate|explain|check-conf)\b", text)) <= commands


def test_everything_that_make_does_is_in_its_help() -> None:
    text = (ROOT / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.*)$", text, re.MULTILINE)

    assert set(phony.split()) == set(re.findall(r"^([a-z0-9-]+):.*##", text, re.MULTILINE))
