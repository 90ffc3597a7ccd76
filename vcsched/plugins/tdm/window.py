"""The hours of the day in which a revocable zone may be used: `22:00-6:00`, in local time (spec 05 §15).

Both ends belong to the window. A window that ends before it begins goes over midnight, in either direction
of it (design-notes §7 row 25); one whose ends are equal is the whole day.
"""

from __future__ import annotations

import re
import time
from typing import NamedTuple

_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2})", re.ASCII)
_DAY_S = 24 * 3600


class WindowError(ValueError):
    """A text that is no window; the message is the one people know, or says which time is wrong."""


class Window(NamedTuple):
    """Seconds after midnight."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """Seconds from the start to the end."""
        return (self.end - self.start) % _DAY_S or _DAY_S

    def is_open(self, now: float) -> bool:
        """Whether this unix time lies in the window."""
        second = second_of_day(now)
        if self.start < self.end:
            return self.start <= second <= self.end
        return second >= self.start or second <= self.end

    def next_change(self, now: float) -> float:
        """The next unix time at which the window may open or have closed."""
        second = second_of_day(now)
        waits = [(edge - second) % _DAY_S or _DAY_S for edge in (self.start, self.end + 1)]
        return int(now) + min(waits)


def second_of_day(now: float) -> int:
    local = time.localtime(now)
    return local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec


def parse_window(text: str) -> Window:
    """A window such as `9:00-17:30`. Raises `WindowError`."""
    parts = text.strip().split("-")
    if len(parts) != 2:
        raise WindowError(f"revocable zone {text} format error")
    return Window(_seconds(parts[0]), _seconds(parts[1]))


def _seconds(text: str) -> int:
    found = _TIME.fullmatch(text)
    if found is None or int(found[1]) > 23 or int(found[2]) > 59:
        raise WindowError(f'parsing time "{text}": write it like 9:00 or 22:30')
    return int(found[1]) * 3600 + int(found[2]) * 60
