"""Which rules do the cases really test? Breaks one rule of the oracle at a time and says which cases notice.

    python -m tests.oracle.mutate                 all mutations over all case files
    python -m tests.oracle.mutate '05 §7' gang    mutations with this in their name, files with this in theirs

`NONE` means that no case would notice the rule's loss. A mutation is a paragraph of `mutations/*.txt`: the rule, the
file, lines to take out (`- `, they occur once) and lines to put there (`+ `). It is not part of `make test`; that each
still applies is.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tests.cases.loader import default_folder, files

HERE = Path(__file__).parent
LINE = re.compile(r"^(\S+?)\.json\S*\s+pass \d+, some seeds (\d+), fail (\d+) \(exceptions (\d+)\)", re.MULTILINE)
TIME_LIMIT_S = 300


@dataclass(frozen=True)
class Mutation:
    """One rule, broken."""

    rule: str
    file: str
    old: str
    new: str

    def apply(self, text: str) -> str:
        """The file's text without the rule; ValueError if the old lines do not occur exactly once."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.rule}: {text.count(self.old)} places in {self.file}, wanted one")
        return text.replace(self.old, self.new)


def mutations() -> list[Mutation]:
    """All of mutations/*.txt, in order."""
    found = []
    for path in sorted((HERE / "mutations").glob("*.txt")):
        for paragraph in path.read_text().strip("\n").split("\n\n"):
            rule, file, *lines = paragraph.split("\n")
            old, new = ("\n".join(line[2:] for line in lines if line[0] == sign) for sign in "-+")
            found.append(Mutation(rule, file, old, new))
    return found


def noticed_by(mutation: Mutation, cases: list[Path]) -> str:
    """Case files with the number of cases that come out differently without the rule."""
    with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
        tests = Path(folder) / "tests"
        for name in ("oracle", "cases"):
            shutil.copytree(HERE.parent / name, tests / name, ignore=shutil.ignore_patterns("data", "__pycache__"))
        (tests / "__init__.py").touch()
        target = tests / "oracle" / mutation.file
        target.write_text(mutation.apply(target.read_text()))
        command = [sys.executable, "-m", "tests.oracle.run", "-s", "2", *map(str, cases)]
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=TIME_LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return "does not end"
    lines = LINE.findall(done.stdout)
    if not lines:
        return f"BROKEN MUTATION: {done.stderr.strip().splitlines()[-1:]}"
    hits = [
        f"{name} {int(some) + int(failed)}" + (f" ({errors} errors)" if int(errors) else "")
        for name, some, failed, errors in lines
        if int(some) + int(failed)
    ]
    return ", ".join(hits) or "NONE"


def main(arguments: list[str]) -> int:
    rule, file = [*arguments, "", ""][:2]
    cases = [path for path in files(default_folder()) if file in f"{path.parent.name}/{path.name}"]
    for mutation in mutations():
        if rule in mutation.rule:
            print(f"{mutation.rule:<60} {noticed_by(mutation, cases)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
