"""Faults that the daemon survives must not hide in tests: they are logged with their exception."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def no_faults() -> Iterator[None]:
    """Fail at the end if anything of vcsched has logged an error or an exception meanwhile."""
    collector = _Collector()
    logger = logging.getLogger("vcsched")
    logger.addHandler(collector)
    try:
        yield
    finally:
        logger.removeHandler(collector)
    for record in collector.records:
        raise AssertionError(record.getMessage()) from (record.exc_info[1] if record.exc_info else None)
