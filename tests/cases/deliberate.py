"""Which cases come out differently under the default profile, and which row of design-notes §7 explains each.

A case is explained by a row if, with that row's switch alone set as in the reference, it comes out as
recorded (or, failing that, with several rows' switches together). `python -m tests.cases.deliberate` finds the
rows and writes deliberate.toml anew; the counts there are then reviewed like any expected value.
"""

from __future__ import annotations

import collections
import functools
import itertools
import tomllib
from collections.abc import Collection
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


def explain(path: Path, without: Collection[str] = (), among: Collection[str] | None = None) -> tuple[list[str], Found]:
    """Reports of the cases of a file that no row explains, and how many each row explains.

    Only the rows that deliberate.toml names for this family count, or those given.
    """
    unexplained: list[str] = []
    found: Found = collections.Counter()
    allowed = expected(path) if among is None else among
    for case in read_file(path):
        if case.name in without or not_yet().reasons(case):
            continue
        outcome = product.run(case, profile="default")
        lines = differences(case.expect, outcome)
        if not lines:
            continue
        row = next((row for row in allowed if not differs_with(case, row)), None)
        if row is None:
            unexplained.append(report(case, outcome, lines))
        else:
            found[row] += 1
    return unexplained, dict(found)


def differs_with(case: Case, row: str) -> bool:
    """Whether the case still differs with these switches as in the reference."""
    reference = {switch.key: switch.reference for switch in SWITCHES}
    switches = {key: reference[key] for key in row.split("+")}
    return bool(differences(case.expect, product.run(case, profile="default", switches=switches)))


def family_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name.split('.')[0]}"


def expected(path: Path) -> Found:
    """What deliberate.toml says of a family."""
    return _content().get(family_of(path), {})


@functools.cache
def _content() -> dict[str, Found]:
    content: dict[str, Found] = tomllib.loads(FILE.read_text())
    return content


def main() -> int:
    """Find the rows and write the file; 1 if some case is explained by no row."""
    keys = sorted({switch.key for switch in SWITCHES}, key=lambda key: (ROWS[key], key))
    rows = [*keys, *("+".join(pair) for pair in itertools.combinations(keys, 2)), "+".join(keys)]
    text, failures = [HEAD], 0
    for path in files(default_folder()):
        unexplained, found = explain(path, among=rows)
        failures += len(unexplained)
        print("\n\n".join(unexplained))
        if found:
            numbers = [f"row {' and '.join(str(ROWS[key]) for key in row.split('+'))}" for row in found]
            lines = [
                f'"{row}" = {count}  # {number}' for (row, count), number in zip(found.items(), numbers, strict=True)
            ]
            text.append("\n".join([f'["{family_of(path)}"]', *lines, ""]))
    FILE.write_text("\n".join(text))
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
