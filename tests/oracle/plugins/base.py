"""A plugin of the oracle: made each session from its entry in the tiers, opened, asked, closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.oracle.quantity import boolean
from tests.oracle.selectors import Object

if TYPE_CHECKING:
    from tests.oracle.session import Session


class Plugin:
    """A plugin registers at an extension point by having a method of that name (points.SWITCHES)."""

    def __init__(self, session: Session, entry: Object) -> None:
        self.session, self.entry = session, entry
        self.arguments: dict[str, Any] = entry.get("arguments") or {}

    def open(self) -> None:
        """Build the state of this session."""

    def close(self) -> None:
        """End the session."""

    def int_argument(self, key: str, default: int) -> int:
        """An integer argument; anything else gives the default (spec 06 §0.3)."""
        return int_or(self.arguments.get(key), default)

    def weight_argument(self, key: str) -> int:
        """An integer argument, 1 if missing or negative."""
        value = self.int_argument(key, 1)
        return 1 if value < 0 else value

    def bool_argument(self, key: str, default: bool) -> bool:
        value = self.arguments.get(key)
        if isinstance(value, bool):
            return value
        parsed = boolean(value) if isinstance(value, str) else None
        return default if parsed is None else parsed


def is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def int_or(value: Any, default: int) -> int:
    return int(value) if is_integer(value) else default


def names_of(text: object) -> list[str]:
    """Names of a comma-separated list."""
    return [name.strip() for name in text.split(",") if name.strip()] if isinstance(text, str) else []


def compare(left: Any, right: Any) -> int:
    return -1 if left < right else 1 if left > right else 0
