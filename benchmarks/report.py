"""The report: one table a benchmark on the terminal, one JSON file each under benchmarks/out."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.figures import Figure
from benchmarks.runner import Result

_COLOURS = {"met": "green", "met by CPU time": "yellow", "missed": "red"}


def show(console: Console, result: Result) -> None:
    """Print one benchmark."""
    console.print()
    console.print(Text(f"{result.suite} · {result.name}", style="bold"), Text(result.what.replace("\n    ", " ")))
    if result.failure:
        console.print(Text(result.failure.strip(), style="red"))
    if not result.figures:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("", overflow="fold", max_width=44)
    for heading in ("×", "median", "best", "by CPU", "loops", "gate", "", "reference", "times"):
        table.add_column(heading, justify="left" if heading == "" else "right")
    for figure in result.figures:
        table.add_row(*_cells(figure))
    console.print(table)
    for figure in result.figures:
        if figure.note:
            console.print(Text(f"  {figure.name}: {figure.note}", style="dim"))


def heading(console: Console, result: Result) -> None:
    """Print the machine, once a run."""
    m = result.machine
    console.print(f"{m['cpu']}, {m['cores']} cores · Python {m['python']}, numpy {m['numpy']} · {m['system']}")
    console.print(
        "× repetitions · by CPU: the best by CPU time, what counts where others use the machine · "
        "loops: CPU time of one unit in yardstick loops (1,000 steps of Python) · times: better than the reference",
        style="dim",
    )


def ending(console: Console, results: list[Result]) -> None:
    """Print the load and the yardsticks over the run, and how many gates are met."""
    verdicts = [f.verdict for r in results for f in r.figures if f.verdict]
    loops = [r.yardstick.loop_us for r in results if r.yardstick.loop_us]
    passes = [r.yardstick.numpy_us for r in results if r.yardstick.numpy_us]
    console.print()
    if loops:
        console.print(
            f"load {min(r.load_before for r in results):.1f} to {max(r.load_after for r in results):.1f} · "
            f"yardstick loop {min(loops):.0f} to {max(loops):.0f} µs, numpy pass {min(passes):.1f} to "
            f"{max(passes):.1f} µs"
        )
    console.print(" · ".join(f"{verdicts.count(v)} gates {v}" for v in _COLOURS if v in verdicts) or "no gates")


def write(folder: Path, results: list[Result], latest: bool) -> None:
    """Write NAME.json for each, and latest.json with all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    for result in results:
        _dump(folder / f"{result.name}.json", result.as_json())
    if latest:
        _dump(folder / "latest.json", [result.as_json() for result in results])


def _dump(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _cells(figure: Figure) -> list[str | Text]:
    by_cpu = _number(figure.best_cpu) if figure.best_cpu is not None else ""
    times = figure.times_better
    return [
        Text(f"{figure.name} [{figure.unit}]"),  # a plain text could be read as markup
        str(len(figure.values)),
        _number(figure.median),
        Text(_number(figure.best), style="bold"),
        by_cpu,
        _number(figure.loops) if figure.loops is not None else "",
        str(figure.gate or ""),
        Text(figure.verdict, style=_COLOURS.get(figure.verdict, "")),
        _number(figure.reference) if figure.reference is not None else "",
        f"{_number(times)}×" if times is not None else "",
    ]


def _number(value: float) -> str:
    """Three digits or more: 12,345 · 123 · 12.3 · 0.123."""
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"
