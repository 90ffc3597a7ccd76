"""Which cases come out differently under the default profile, and which row of design-notes §7 explains each.

A case is explained by a row if, with that row's switch alone set as in the reference, it comes out as
recorded; some need the switches of several rows together. `python -m tests.cases.deliberate` finds the rows and
writes deliberate.toml anew; the counts there are then reviewed like any expected value.
"""

from __future__ import annotations

import collections
import functools
import tomllib
from collections.abc import Callable, Collection
from pathlib import Path

from vcsched.framework.compat import SWITCHES

from . import product
from .compare import differences
from .loader import HERE, Case, default_folder, files, read_file
from .needs import not_yet
from .tables import report

FILE = HERE / "deliberate.toml"
# switch -> row of design-notes §7
ROWS = {
    "victimRestart": 6,
    "victimVeto": 7,
    "evictUnchecked": 8,
    "reclaimNodeOrder": 9,
    "preemptNoReprieve": 10,
    "nodeSampling": 11,
    "roleSkip": 12,
    "unresolvedTopology": 14,
    "queueFaultBlocksAll": 16,
    "statelessQueueClosed": 17,
    "backfillClosedQueues": 17,
    "reserveAllReplicas": 18,
    "gangVictimScope": 20,
    "pdbStrict": 21,
    "singlePodVictims": 26,
    "unevictRunning": 27,
    "barePods": 28,
}
HEAD = """\
# Cases that come out differently under the default profile than in the reference: how many of each family, by
# the switch (and row of design-notes §7) that explains them. Several switches joined by + explain a case only
# together. Written by `python -m tests.cases.deliberate`; review what changes.
"""

Found = dict[str, int]  # switches joined by "+" -> cases
Explanation = Callable[[Case], str | None]  # the row that explains a case, or None


def explain(path: Path, without: Collection[str], explanation: Explanation) -> tuple[list[str], Found]:
    """Reports of the cases of a file that no row explains, and how many each row explains."""
    unexplained: list[str] = []
    found: Found = collections.Counter()
    for case in read_file(path):
        if case.name in without or not_yet().reasons(case):
            continue
        outcome = product.run(case, profile="default")
        lines = differences(case.expect, outcome)
        if lines:
            row = explanation(case)
            if row is None:
                unexplained.append(report(case, outcome, lines))
            else:
                found[row] += 1
    return unexplained, dict(found)


def by_known_row(case: Case) -> str | None:
    """A row that deliberate.toml names for the family, the fewest switches first."""
    rows = sorted(_content().get(case.family, {}), key=lambda row: row.count("+"))
    return next((row for row in rows if comes_out_with(case, row.split("+"))), None)


def by_any_row(case: Case) -> str | None:
    """One switch, or else a set of switches of which none can be left out."""
    keys = sorted((switch.key for switch in SWITCHES), key=lambda key: (ROWS[key], key))
    if not comes_out_with(case, keys):
        return None
    needed = list(keys)
    for key in keys:
        if comes_out_with(case, [key]):
            return key
        fewer = [other for other in needed if other != key]
        needed = fewer if comes_out_with(case, fewer) else needed
    return "+".join(needed)


def comes_out_with(case: Case, keys: Collection[str]) -> bool:
    """Whether the case comes out as recorded with these switches as in the reference."""
    reference = {switch.key: switch.reference for switch in SWITCHES}
    outcome = product.run(case, profile="default", switches={key: reference[key] for key in keys})
    return not differences(case.expect, outcome)


def expected(path: Path) -> Found:
    """What deliberate.toml says of a family."""
    return _content().get(f"{path.parent.name}/{path.name.split('.')[0]}", {})


@functools.cache
def _content() -> dict[str, Found]:
    content: dict[str, Found] = tomllib.loads(FILE.read_text())
    return content


def main() -> int:
    """Find the rows and write the file; 1 if some case is explained by no row."""
    defects = {entry["case"] for entry in tomllib.loads((HERE / "defects.toml").read_text())["defect"]}
    text, failures = [HEAD], 0
    for path in files(default_folder()):
        unexplained, found = explain(path, defects, by_any_row)
        failures += len(unexplained)
        print("\n\n".join(unexplained), end="")
        if found:
            rows = [f'"{row}" = {count}  # row {numbers_of(row)}' for row, count in sorted(found.items())]
            text.append("\n".join([f'["{read_file(path)[0].family}"]', *rows, ""]))
    FILE.write_text("\n".join(text))
    return 1 if failures else 0


def numbers_of(row: str) -> str:
    return " and ".join(dict.fromkeys(str(ROWS[key]) for key in row.split("+")))


if __name__ == "__main__":
    raise SystemExit(main())
