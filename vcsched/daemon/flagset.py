"""Command-line flags with the syntax of Go's pflag (spec 02 §1.1).

Neither argparse nor click can be made to follow it: a bare boolean never takes the next argument, `_` and
`-` are the same in names, a first occurrence of a list replaces its default, `-v3` and `-v=3` are
shorthands, positional arguments are ignored (the stock manifests pass a literal `2>&1`), and a name may
not be abbreviated. The rules are few, so they are here; `flags` declares the flags.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vcsched.framework.duration import format_duration, parse_duration

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})


class FlagError(ValueError):
    """An unknown flag or a bad value; the text is the one line for stderr."""


class HelpWanted(Exception):
    """`--help` or `-h` was given."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of flag: how its text is read and shown. `repeats` kinds collect tuples."""

    name: str
    read: Callable[[str], Any]
    show: Callable[[Any], str] = str
    repeats: bool = False


def _read_bool(text: str) -> bool:
    if text not in _TRUE | _FALSE:
        raise ValueError(f'"{text}" is not a boolean; give true or false')
    return text in _TRUE


def _int_between(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        try:
            number = int(text, 0)
        except ValueError:
            raise ValueError(f'"{text}" is not a whole number') from None
        if not low <= number <= high:
            raise ValueError(f"{text} is not between {low} and {high}")
        return number

    return read


def _read_float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f'"{text}" is not a number') from None


def _read_slice(text: str) -> tuple[str, ...]:
    return tuple(next(csv.reader([text], strict=True), ()))


def _show_list(value: Sequence[str]) -> str:
    return f"[{','.join(value)}]"


def _read_map(text: str) -> tuple[tuple[str, bool], ...]:
    pairs = []
    for item in filter(None, text.split(",")):
        name, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f'"{item}" has no value; write {item}=true or {item}=false')
        try:
            pairs.append((name.strip(), _read_bool(value.strip())))
        except ValueError:
            raise ValueError(f"{name.strip()}={value.strip()} is neither true nor false") from None
    return tuple(pairs)


def _show_map(value: Sequence[tuple[str, bool]]) -> str:
    return ",".join(f"{name}={str(on).lower()}" for name, on in sorted(dict(value).items()))


STRING = Kind("string", str)
BOOL = Kind("bool", _read_bool, lambda value: str(value).lower())
INT = Kind("int", _int_between(-(2**63), 2**63 - 1))
INT32 = Kind("int32", _int_between(-(2**31), 2**31 - 1))
UINT32 = Kind("uint32", _int_between(0, 2**32 - 1))
FLOAT = Kind("float", _read_float, lambda value: f"{value:g}")
DURATION = Kind("duration", parse_duration, format_duration)
ARRAY = Kind("stringArray", lambda text: (text,), _show_list, repeats=True)
SLICE = Kind("strings", _read_slice, _show_list, repeats=True)
GATES = Kind("mapStringBool", _read_map, _show_map, repeats=True)


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag: its name with dashes, kind, default, and what `--help` says."""

    name: str
    kind: Kind
    default: Any
    help: str
    shorthand: str = ""


def parse(flags: Sequence[Flag], arguments: Sequence[str]) -> Mapping[str, Any]:
    """The value of every flag by name. FlagError or HelpWanted, as the texts say."""
    by_name = {flag.name: flag for flag in flags}
    by_letter = {flag.shorthand: flag for flag in flags if flag.shorthand}
    values: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            break
        if word.startswith("--"):
            _long(word, rest, by_name, values)
        elif word.startswith("-") and word != "-":
            _short(word, rest, by_letter, values)
    return {flag.name: values.get(flag.name, flag.default) for flag in flags}


def _long(word: str, rest: list[str], by_name: Mapping[str, Flag], values: dict[str, Any]) -> None:
    given, equals, text = word[2:].partition("=")
    name = given.replace("_", "-")
    if not given or given.startswith("-"):
        raise FlagError(f"bad flag syntax: {word}")
    flag = by_name.get(name)
    if flag is None:
        if name == "help":
            raise HelpWanted
        raise FlagError(f"unknown flag: --{given}")
    if not equals:
        text = _next(flag, rest, word)
    _set(flag, text, word, values)


def _short(word: str, rest: list[str], by_letter: Mapping[str, Flag], values: dict[str, Any]) -> None:
    letters = word[1:]
    while letters:
        letter, letters = letters[0], letters[1:]
        flag = by_letter.get(letter)
        if flag is None:
            if letter == "h":
                raise HelpWanted
            raise FlagError(f"unknown shorthand flag: '{letter}' in {word}")
        if letters:
            text, letters = letters.removeprefix("="), ""
        else:
            text = _next(flag, rest, f"-{letter}")
        _set(flag, text, word, values)


def _next(flag: Flag, rest: list[str], word: str) -> str:
    if flag.kind is BOOL:
        return "true"
    if not rest:
        raise FlagError(f"flag needs an argument: {word}")
    return rest.pop(0)


def _set(flag: Flag, text: str, word: str, values: dict[str, Any]) -> None:
    try:
        value = flag.kind.read(text)
    except (ValueError, csv.Error) as error:
        raise FlagError(f'invalid argument "{text}" for "--{flag.name}" flag: {error}') from None
    values[flag.name] = values.get(flag.name, ()) + value if flag.kind.repeats else value


def usage(command: str, flags: Sequence[Flag]) -> str:
    """What `--help` prints and what follows a flag error."""
    lines = [f"Usage of {command}:"]
    width = max(len(_head(flag)) for flag in flags) + 3
    for flag in sorted(flags, key=lambda flag: flag.name):
        shown = flag.kind.show(flag.default)
        default = "" if flag.default in ("", False, (), 0) else f" (default {shown})"
        lines.append(f"{_head(flag).ljust(width)}{flag.help}{default}")
    return "\n".join(lines) + "\n"


def _head(flag: Flag) -> str:
    letter = f"  -{flag.shorthand}, " if flag.shorthand else "      "
    kind = "" if flag.kind is BOOL else f" {flag.kind.name}"
    return f"{letter}--{flag.name}{kind}"
