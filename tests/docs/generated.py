"""Parts of the pages that are written from the code, each between two comments that name it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from vcsched.daemon.flags import Options
from vcsched.framework.compat import SWITCHES, CompatibilitySwitch
from vcsched.framework.points import Point, Points
from vcsched.framework.registry import Registry

ROOT = Path(__file__).parents[2]
_KLOG = "and klog's flags other than -v."


class Part(NamedTuple):
    """One generated part: the page, the name in its comments, and what it must say now."""

    page: str
    name: str
    text: Callable[[], str]


def compatibility() -> str:
    """Every compatibility switch; one that nothing reads says so."""
    rows = ["| switch | default | reference | |", "|---|---|---|---|"]
    rows += [f"| `{s.key}` | {_shown(s.default)} | {_shown(s.reference)} | {_what(s)} |" for s in SWITCHES]
    return _lines(rows)


def built() -> str:
    """Actions and plugins of the specification that are there, and those that are not."""
    registry = Registry()
    rows = ["| | built | not yet |", "|---|---|---|"]
    for title, line, there in (
        ("actions", "Built-in actions", registry.action_names()),
        ("plugins", "Built-in names", registry.plugin_names()),
    ):
        rows.append(f"| {title} | {_listed(there)} | {_listed(specified(line) - there)} |")
    return _lines(rows)


def silent_flags() -> str:
    """The options that nothing reads."""
    text = "\n".join(sources("."))
    read = set(re.findall(r"(?:options|_options|self)\.(\w+)\b", text))
    names = [f"`--{field.replace('_', '-')}`" for field in Options.__slots__ if field not in read]
    return _filled(
        f"Accepted so that an existing command line works, and without effect: {', '.join(sorted(names))},", _KLOG
    )


def silent_points() -> str:
    """The points that neither the framework nor an action asks."""
    asked: set[str] = set()
    for text in sources("framework", "actions"):
        if "class Points:" not in text:
            asked |= set(re.findall(r"\.(\w+)\b(?!\.add\()", text))
    names = [f"`{name}`" for name, value in vars(Points()).items() if isinstance(value, Point) and name not in asked]
    return _filled(f"Nobody asks yet: {', '.join(sorted(names)) or 'none'}.")


def sources(*rooms: str) -> Iterator[str]:
    """The text of every file of these rooms of the package."""
    for room in rooms:
        for path in (ROOT / "vcsched" / room).rglob("*.py"):
            yield path.read_text()


def specified(line: str) -> frozenset[str]:
    """The names that spec 03 §6 lists after these words."""
    found = re.search(rf"^{line}: `([^`]+)`", (ROOT / "docs/spec/03-framework.md").read_text(), re.MULTILINE)
    assert found, f"spec 03 has no line {line!r}"
    return frozenset(found.group(1).split())


def is_read(switch: CompatibilitySwitch) -> bool:
    """Whether some decision reads the switch: its name is used outside the file that declares it."""
    use = re.compile(rf"\.{switch.field}\b")
    sources = (path for path in (ROOT / "vcsched").rglob("*.py") if path.name != "compat.py")
    return any(use.search(path.read_text()) for path in sources)


PARTS = (
    Part("README.md", "built", built),
    Part("docs/configuration.md", "compatibility", compatibility),
    Part("docs/operations.md", "silent flags", silent_flags),
    Part("docs/plugins.md", "silent points", silent_points),
)


def renewed(page: str, text: str) -> str:
    """The page with its generated parts as they must be now."""
    for part in PARTS:
        if part.page == page:
            begin, end = f"<!-- {part.name}: make docs -->\n", f"<!-- end of {part.name} -->\n"
            head, found, rest = text.partition(begin)
            assert found, f"{page} has no line {begin!r}"
            text = head + begin + part.text() + end + rest.partition(end)[2]
    return text


def _what(switch: CompatibilitySwitch) -> str:
    return switch.why if is_read(switch) else f"{switch.why} *Accepted, not in force yet.*"


def _shown(value: bool | str) -> str:
    return f"`{str(value).lower()}`" if isinstance(value, bool) else f"`{value}`"


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _filled(*sentences: str) -> str:
    return textwrap.fill(" ".join(sentences), 115, break_on_hyphens=False, break_long_words=False) + "\n"


def _lines(rows: list[str]) -> str:
    return "\n".join(rows) + "\n"
