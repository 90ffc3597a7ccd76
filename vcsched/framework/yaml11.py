"""YAML as the reference reads it, with the line and column of every node (spec 03 §5, "YAML type traps").

Plain scalars follow the rules of the Go library, which PyYAML's differ from: `y` and `n` are booleans,
`1e3` is a float, `08` is the float 8.0, `10:00` is text. Only the first document of a text is read.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import yaml

_PREFIX = "tag:yaml.org,2002:"
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_INTEGERS = (
    (re.compile(r"[-+]?0[xX][0-9a-fA-F]+"), 16),
    (re.compile(r"[-+]?0[bB][01]+"), 2),
    (re.compile(r"[-+]?0[oO]?[0-7]+"), 8),
    (re.compile(r"[-+]?(0|[1-9][0-9]*)"), 10),
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DAY = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_MOMENT = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt]|[ ]+(?=[^zZ+]*$))"
    r"(\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d*)?([zZ]|[-+]\d\d:\d\d)?"
)
_DEEPEST = 200


class YamlError(ValueError):
    """The text is not YAML that can be read; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line, self.column = line, column


class _Loader(yaml.SafeLoader):
    """PyYAML's scanner and composer; only what a plain scalar means is ours."""

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            return _PREFIX + _tag(scalar(value))
        return _PREFIX + {yaml.ScalarNode: "str", yaml.SequenceNode: "seq"}.get(kind, "map")


def compose(text: str) -> yaml.Node | None:
    """The node tree of the first document, None for an empty text; YamlError where it cannot be read."""
    try:
        loader = _Loader(text)
        try:
            node: yaml.Node | None = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise YamlError(f"not YAML: {error.problem or error.context}", line, column) from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, error.position - (before.rfind("\n") + 1) + 1
        raise YamlError(f"not YAML: {error.reason}", line, column) from None
    except RecursionError:
        raise YamlError(f"nested more than {_DEEPEST} deep", 1, 1) from None
    return node


def value_of(node: yaml.Node) -> Any:
    """The plain value of a node: dict, list, str, bool, int, float, date, datetime or None.

    A node that several aliases lead to gives one shared value. A node that contains itself, or nests too
    deep, is a YamlError.
    """
    return _value(node, {}, 0)


def _value(node: yaml.Node, known: dict[int, Any], depth: int) -> Any:
    if id(node) not in known:
        if depth > _DEEPEST:
            raise YamlError(f"nested more than {_DEEPEST} deep", *place(node))
        known[id(node)] = _value_of_new(node, known, depth)
    return known[id(node)]


def _value_of_new(node: yaml.Node, known: dict[int, Any], depth: int) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return _tagged(node)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, known, depth + 1) for item in node.value]
    result = {}
    for key_node, item in pairs(node):
        if not isinstance(key_node, yaml.ScalarNode):
            raise YamlError("a map or list cannot be a key", *place(key_node))
        result[_tagged(key_node)] = _value(item, known, depth + 1)
    return result


def pairs(node: yaml.Node, depth: int = 0) -> Iterator[tuple[yaml.Node, yaml.Node]]:
    """Key and value nodes of a map, `<<` merged first: the map's own keys come later and win."""
    if depth > _DEEPEST:
        raise YamlError(f"merged more than {_DEEPEST} deep", *place(node))
    own = []
    for key, item in node.value:
        if isinstance(key, yaml.ScalarNode) and key.value == "<<" and key.style is None:
            for merged in reversed(item.value) if isinstance(item, yaml.SequenceNode) else (item,):
                if not isinstance(merged, yaml.MappingNode):
                    raise YamlError("<< takes a map or a list of maps", *place(merged))
                yield from pairs(merged, depth + 1)
        else:
            own.append((key, item))
    yield from own


def place(node: yaml.Node) -> tuple[int, int]:
    """Line and column where the node begins, from 1."""
    return node.start_mark.line + 1, node.start_mark.column + 1


def text_of(node: yaml.ScalarNode) -> str:
    """A scalar where text is wanted: a number, boolean or date is taken as it is written, null as empty."""
    return "" if node.tag == _PREFIX + "null" else str(node.value)


def scalar(text: str) -> Any:
    """What a plain scalar means."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "0123456789+-.":
        return _number_or_time(text)
    return text


def _number_or_time(text: str) -> Any:
    moment = _time(text)
    if moment is not None:
        return moment
    digits = text.replace("_", "")
    for pattern, base in _INTEGERS:
        if pattern.fullmatch(digits):
            number = int(digits, base)
            if -(2**63) <= number < 2**64:
                return number
    return float(digits) if _FLOAT.fullmatch(digits) else text


def _time(text: str) -> date | datetime | None:
    try:
        if day := _DAY.fullmatch(text):
            return date(*map(int, day.groups()))
        if moment := _MOMENT.fullmatch(text):
            *numbers, fraction, zone = moment.groups()
            micros = int((fraction or "").lstrip(".").ljust(6, "0")[:6])
            offset = datetime.strptime(zone or "Z", "%z").tzinfo
            year, month, dom, hour, minute, second = map(int, numbers)
            return datetime(year, month, dom, hour, minute, second, micros, offset)
    except ValueError:
        pass  # the 31st of June is text
    return None


def _tagged(node: yaml.ScalarNode) -> Any:
    kind = node.tag.removeprefix(_PREFIX)
    if kind == "str":
        return node.value
    value = scalar(node.value)
    if _tag(value) == kind:
        return value
    if kind == "float" and _tag(value) == "int":
        return float(value)
    raise YamlError(f'"{node.value}" cannot be read as {node.tag.replace(_PREFIX, "!!")}', *place(node))


def _tag(value: Any) -> str:
    kinds = {bool: "bool", int: "int", float: "float", date: "timestamp", datetime: "timestamp", str: "str"}
    return kinds.get(type(value), "null")
