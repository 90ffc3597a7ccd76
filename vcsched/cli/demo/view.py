"""How the demo looks: a table that changes in place on a terminal, a line a second elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from rich.box import SIMPLE
from rich.console import Console
from rich.live import Live
from rich.table import Table

from vcsched.cli.demo.audience import Row

_COLUMNS = ("job", "queue", "phase", "bound/min/all", "reason")


class View(Protocol):
    """Shows the rows whenever told."""

    def show(self, rows: Sequence[Row], line: str) -> None: ...


class Terminal:
    """The table, redrawn in place."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False)

    def show(self, rows: Sequence[Row], line: str) -> None:
        self._live.update(table(rows, line), refresh=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()


class Plain:
    """Lines for a pipe or a log; a set is told of when it changed."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown: dict[str, tuple[str, int, str]] = {}

    def show(self, rows: Sequence[Row], line: str) -> None:
        self._console.print(line, highlight=False, soft_wrap=True)
        for row in rows:
            state = (row.phase, row.bound, row.reason)
            if row.pods and self._shown.get(row.name) != state:
                self._shown[row.name] = state
                text = f"  {row.name:<8} {row.queue:<9} {_amounts(row):<18} {row.phase}"
                self._console.print(f"{text}  {row.reason}".rstrip(), highlight=False, soft_wrap=True, markup=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


def view_for(console: Console) -> Terminal | Plain:
    """A table on a terminal, lines elsewhere."""
    return Terminal(console) if console.is_terminal else Plain(console)


def table(rows: Sequence[Row], caption: str) -> Table:
    """The sets as they stand."""
    made = Table(box=SIMPLE, caption=caption, caption_justify="left")
    for name in _COLUMNS:
        made.add_column(name, justify="right" if "/" in name else "left", no_wrap=name != "reason")
    for row in rows:
        made.add_row(row.name, row.queue, row.phase, _amounts(row), row.reason)
    return made


def summary(rows: Sequence[Row]) -> Table:
    """What had to come of each set, and what did."""
    made = Table(box=SIMPLE, pad_edge=False)
    for name in ("job", "queue", "pods", "gangs", "expected", ""):
        made.add_column(name, justify="right" if name in ("pods", "gangs") else "left", no_wrap=True)
    for row in rows:
        verdict = "[green]good[/]" if row.good else "[red]wrong[/]"
        made.add_row(row.name, row.queue, f"{row.bound:,} of {row.pods:,}", str(row.whole), row.shows, verdict)
    return made


def _amounts(row: Row) -> str:
    return f"{row.bound:,}/{row.minimum:,}/{row.pods:,}"
