"""Durations as Go writes them: `300ms`, `1m30s`, `1h`, `0` (spec 02 §1.1).

Flags, plugin arguments (`sla-waiting-time`, `tdm.evict.period`, …) and the log-level socket all take this
form. A bare number other than 0 has no unit and is an error.
"""

import re
from fractions import Fraction

_UNIT_S = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_TERM = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_LONGEST_NS = 2**63 - 1


def parse_duration(text: str) -> float:
    """The duration in seconds; ValueError says what is wrong with the text."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0.0
    total, at = Fraction(0), 0
    while term := _TERM.match(rest, at):
        total += Fraction(term[1].strip(".") if term[1].endswith(".") else term[1]) * _UNIT_S[term[2]]
        at = term.end()
    if at == 0 or at != len(rest):
        raise ValueError(f'"{text}" is not a duration; write it like 300ms, 1m30s or 1h')
    if total * 10**9 > _LONGEST_NS:
        raise ValueError(f'"{text}" is longer than any duration can be (292 years)')
    return float(sign * total)


def format_duration(seconds: float) -> str:
    """The text Go prints: `0s`, `1.5s`, `300ms`, `1m30s`, `1h0m0s`."""
    nanos = round(abs(seconds) * 10**9)
    sign = "-" if seconds < 0 and nanos else ""
    if nanos == 0:
        return "0s"
    for unit, size in (("ns", 1), ("µs", 10**3), ("ms", 10**6)):
        if nanos < size * 1000:
            return f"{sign}{_decimal(nanos, size)}{unit}"
    minutes, nanos = divmod(nanos, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(nanos, 10**9)}s"
    if hours:
        return f"{sign}{hours}h{minutes}m{text}"
    return f"{sign}{minutes}m{text}" if minutes else f"{sign}{text}"


def _decimal(nanos: int, size: int) -> str:
    whole, part = divmod(nanos, size)
    if not part:
        return str(whole)
    return f"{whole}." + str(part).rjust(len(str(size)) - 1, "0").rstrip("0")
