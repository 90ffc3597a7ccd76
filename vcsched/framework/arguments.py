"""Arguments of a plugin or an action, read with a type and a default (spec 03 §5).

A value of the wrong type never stops anything: one warning names the owner, the key, the value and the
default that is used instead. Values are not range-checked here; that is the reader's business.

Keys that were asked for are remembered, so that `unasked` can name the ones nobody reads, which are
usually misspelt.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar, get_args, get_origin

import msgspec

log = logging.getLogger(__name__)

T = TypeVar("T")

# The getters below are called `int`, `str`, … so that plugins read well; these are the types themselves.
_Int: TypeAlias = int
_Float: TypeAlias = float
_Bool: TypeAlias = bool
_Str: TypeAlias = str

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_INT64 = range(-(2**63), 2**63)


def _log_warning(_key: str, sentence: str) -> None:
    log.warning("%s", sentence)


class Arguments(Mapping[str, Any]):
    """The free map `arguments` of one entry; `owner` is how warnings call it (`plugin binpack`).

    `report` takes the key and the finished sentence of a warning; by default it goes to the log.
    """

    __slots__ = ("_asked", "_report", "_values", "owner")

    def __init__(
        self,
        values: Mapping[_Str, Any] | None = None,
        owner: _Str = "arguments",
        report: Callable[[_Str, _Str], object] = _log_warning,
    ) -> None:
        self._values = dict(values or {})
        self._asked: set[_Str] = set()
        self.owner = owner
        self._report = report

    def __getitem__(self, key: _Str) -> Any:
        self._asked.add(key)
        return self._values[key]

    def __iter__(self) -> Iterator[_Str]:
        return iter(self._values)

    def __len__(self) -> _Int:
        return len(self._values)

    def __eq__(self, other: object) -> _Bool:
        return isinstance(other, Arguments) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> _Str:
        return f"Arguments({self._values!r}, {self.owner!r})"

    def reported_to(self, report: Callable[[_Str, _Str], object]) -> Arguments:
        """The same arguments, nothing asked yet, with another receiver of the warnings."""
        return Arguments(self._values, self.owner, report)

    def unasked(self) -> tuple[_Str, ...]:
        """The keys that nobody has read so far, in their order."""
        return tuple(key for key in self._values if key not in self._asked)

    def asked(self) -> tuple[_Str, ...]:
        """The keys that somebody has read, given or not, in order of their names."""
        return tuple(sorted(self._asked))

    def int(self, key: _Str, default: _Int) -> _Int:
        """A YAML integer of at most 64 bits; a float or a quoted number is not one."""
        value = self.get(key, default)
        if type(value) is _Int and value in _INT64:
            return value
        return self.unusable(key, value, "an integer", default)

    def float(self, key: _Str, default: _Float) -> _Float:
        """A YAML float; an integer is widened."""
        value = self.get(key, default)
        if type(value) in (_Int, _Float):
            return _Float(value)
        return self.unusable(key, value, "a number", default)

    def bool(self, key: _Str, default: _Bool) -> _Bool:
        """A YAML boolean, or one of the texts that Go reads as one (`"true"`, `"1"`, `"F"`, …)."""
        value = self.get(key, default)
        if isinstance(value, _Bool):
            return value
        if isinstance(value, _Str) and value in _TRUE | _FALSE:
            return value in _TRUE
        return self.unusable(key, value, "a boolean", default)

    def str(self, key: _Str, default: _Str = "") -> _Str:
        """A YAML string; a number or boolean is not one."""
        value = self.get(key, default)
        if isinstance(value, _Str):
            return value
        return self.unusable(key, value, "a string", default)

    def typed(self, key: _Str, shape: type[T], default: T) -> T:
        """A list, map, struct or number of the given type, converted by structure.

        Numbers turn into each other (a float is cut), a struct's field names are matched without regard to
        case, and nothing turns into or from text.
        """
        value = self.get(key, default)
        if key not in self._values:
            return default
        try:
            converted: T = _convert(value, shape)
        except (TypeError, ValueError, OverflowError) as error:
            return self.unusable(key, value, f"a usable value ({error})", default)
        return converted

    def unusable(self, key: _Str, value: Any, wanted: _Str, default: T) -> T:
        """Warn that a value is not what is wanted (`at least 1.0`) and give the default; for range checks."""
        self._report(key, f"{self.owner}: argument {key} is {value!r}, not {wanted}; the default {default!r} is used")
        return default


def _convert(value: Any, shape: Any) -> Any:
    origin, inner = get_origin(shape), get_args(shape)
    if shape in (int, float) and type(value) in (int, float):
        return shape(value)
    if origin is list and isinstance(value, list):
        return [_convert(item, inner[0]) for item in value]
    if origin is dict and isinstance(value, dict):
        return {_convert(key, inner[0]): _convert(item, inner[1]) for key, item in value.items()}
    if isinstance(shape, type) and issubclass(shape, msgspec.Struct) and isinstance(value, dict):
        given = {str(key).lower(): item for key, item in value.items()}
        fields = msgspec.structs.fields(shape)
        return msgspec.convert(
            {
                field.encode_name: _convert(given[field.encode_name.lower()], field.type)
                for field in fields
                if field.encode_name.lower() in given
            },
            shape,
        )
    return msgspec.convert(value, shape)
