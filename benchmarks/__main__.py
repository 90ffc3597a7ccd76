"""`python -m benchmarks quick|full|e2e [--only NAME ...] [--json DIR] [--profile]`."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from rich.console import Console

from benchmarks import profiles, report, runner
from benchmarks.catalogue import SUITES

OUT = Path(__file__).with_name("out")


@click.command()
@click.argument("suite", type=click.Choice(list(SUITES)))
@click.option("--only", "names", multiple=True, metavar="NAME", help="Only these; may be repeated.")
@click.option("--json", "folder", type=click.Path(path_type=Path), default=OUT, help="Where the JSON files go.")
@click.option("--profile", is_flag=True, help="Also write flame graphs and the cost of a placement by stage.")
def main(suite: str, names: tuple[str, ...], folder: Path, profile: bool) -> None:
    """Measure how fast the scheduler is. Exit code 1 if a benchmark failed; a missed gate is no failure."""
    unknown = set(names) - set(SUITES[suite])
    if unknown:
        raise click.BadParameter(f"{suite} has {', '.join(SUITES[suite])}", param_hint=f"--only {min(unknown)}")
    console = Console(width=None if sys.stdout.isatty() else 160)
    results: list[runner.Result] = []
    for name in names or SUITES[suite]:
        result = runner.run(suite, name)
        if not results:
            report.heading(console, result)
        report.show(console, result)
        results.append(result)
        report.write(folder, [result], latest=False)
    report.write(folder, results, latest=suite == "quick" and not names)
    report.ending(console, results)
    if profile:
        profiles.write(console, folder)
    sys.exit(any(result.failure for result in results))


if __name__ == "__main__":
    main()
