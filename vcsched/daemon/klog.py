"""The log in klog's format and with its verbosity levels, on stderr (spec 02 §1.2, "klog flags").

    I1130 00:01:02.000345   12345 loop.py:57] Session 12 ended

Python's logging does the work. Verbosity `-v N` shows what is logged at level `logging.INFO - n` for every
n ≤ N, so a module of any room says `log.log(logging.INFO - 3, ...)` for what klog calls V(3), and needs
nothing from here. More than V(10) does not exist. A change of level (see `loglevel`) takes effect at once.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from typing import TextIO

MOST_VERBOSE = 10
_LETTERS = ((logging.CRITICAL, "F"), (logging.ERROR, "E"), (logging.WARNING, "W"))


def level_of(verbosity: int) -> int:
    """The logging level of V(verbosity): 20 for 0, 10 for 10 and more."""
    return logging.INFO - max(0, min(verbosity, MOST_VERBOSE))


class KlogFormatter(logging.Formatter):
    """One klog line for a record; a traceback follows on lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.localtime(record.created)
        micros = int(record.created % 1 * 1_000_000)
        head = (
            f"{_letter(record.levelno)}{time.strftime('%m%d %H:%M:%S', moment)}.{micros:06d} "
            f"{record.process or 0:7d} {record.filename}:{record.lineno}]"
        )
        text = f"{head} {record.getMessage()}"
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        if record.stack_info:
            text += "\n" + self.formatStack(record.stack_info)
        return text


def _letter(level: int) -> str:
    return next((letter for least, letter in _LETTERS if level >= least), "I")


class Verbosity:
    """The level in force of the root logger, which a request may raise for a while.

    `on_change` is told each new logging level: the I/O process has a log of its own.
    """

    def __init__(self, start: int) -> None:
        self.on_change: Callable[[int], None] | None = None
        self.start = start
        self.current = start
        self.set(start)

    def set(self, verbosity: int) -> None:
        """Show everything up to V(verbosity) from now on."""
        self.current = verbosity
        level = level_of(verbosity)
        logging.getLogger().setLevel(level)
        if self.on_change is not None:
            self.on_change(level)


def set_up(verbosity: int, stream: TextIO | None = None) -> Verbosity:
    """Send the log of the whole process to `stream` (stderr) in klog's format."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(KlogFormatter())
    logging.getLogger().handlers[:] = [handler]
    logging.captureWarnings(True)
    for noisy in ("aiohttp", "asyncio", "kubernetes", "urllib3", "watchdog"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    return Verbosity(verbosity)
