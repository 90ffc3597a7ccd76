"""What the process does on signals (spec 02 §2 no. 7, §19, W36).

The first SIGTERM or SIGINT asks for an orderly end, a second one ends the process with status 1. SIGUSR1 and
SIGUSR2 ask for a dump. Until the dumper is ready, a dump signal is ignored: by default it would kill the
process.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import Callable

log = logging.getLogger(__name__)

ENDING = (signal.SIGTERM, signal.SIGINT)


def ignore_dumps() -> None:
    """Keep SIGUSR1 and SIGUSR2 from killing the process while nothing can be dumped."""
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)


def on_end(loop: asyncio.AbstractEventLoop, stop: Callable[[], object]) -> None:
    """Call `stop` in the loop at the first signal to end; the second one does not wait for anything."""
    asked = False

    def end(number: signal.Signals) -> None:
        nonlocal asked
        if asked:
            log.error("second %s: ending at once", number.name)
            logging.shutdown()
            os._exit(1)
        asked = True
        log.info("%s: ending; a second signal ends at once", number.name)
        stop()

    for number in ENDING:
        loop.add_signal_handler(number, end, number)


def on_dump(loop: asyncio.AbstractEventLoop, to_file: Callable[[], object], to_log: Callable[[], object]) -> None:
    """Call `to_file` in the loop on SIGUSR1 and `to_log` on SIGUSR2."""
    loop.add_signal_handler(signal.SIGUSR1, to_file)
    loop.add_signal_handler(signal.SIGUSR2, to_log)
