"""What becomes of a configuration, while it is read: the items of its report, and the files that it refers to."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from prosa.convert.neutral import Item, Level, Report
from prosa.data import JsonError, Node, Value, parse_json, read_yaml, span_at, to_value
from prosa.source import SourceText

MAX_ITEMS = 1_000
"""Items of one report; a person reads fewer."""


class Unreadable(Exception):
    """A file that a configuration refers to and that cannot be used, with the reason."""


class Log(Struct):
    """A report that grows. ``open`` returns the text of a file by its path from the configuration, and raises
    `Unreadable`."""

    source: SourceText
    node: Node
    open: Callable[[str], str]
    items: list[Item] = field(default_factory=list)
    said: set[tuple[str, str]] = field(default_factory=set)
    kept: int = 0

    def add(self, level: Level, pointer: str, message: str, to: str = "") -> None:
        """Add an item about the place of a JSON pointer; the same words about it are added once."""
        if (pointer, message) in self.said or len(self.items) >= MAX_ITEMS:
            return
        self.said.add((pointer, message))
        line = self.source.position(min(span_at(self.node, pointer).start, len(self.source.text))).line
        self.items.append(Item(level, self.source.path, line, pointer, to, message, pointer))

    def report(self) -> Report:
        """Return the report."""
        return Report(self.kept, tuple(self.items))


def file_of(value: Value) -> str | None:
    """Return the path in a text that refers to a file; None for any other value."""
    if not isinstance(value, str) or not value.startswith("file://"):
        return None
    return value.removeprefix("file://")


CODE = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".go", ".sh")


def is_code(path: str) -> bool:
    """Return whether a path names a program, with or without the name of a function behind it."""
    return any(path.endswith(suffix) or f"{suffix}:" in path for suffix in CODE)


def content_of(path: str, log: Log) -> Value:
    """Return the data or text of a file: JSON and YAML are read. Raises `Unreadable`."""
    if is_code(path):
        raise Unreadable("it is code, which is not run")
    if any(char in path for char in "*?[{"):
        raise Unreadable("it is a pattern of file names")
    text = log.open(path)
    if path.endswith(".json"):
        try:
            return parse_json(text)
        except JsonError as error:
            raise Unreadable(f"it is not JSON: {error.message}") from None
    return yaml_of(text) if path.endswith((".yaml", ".yml")) else text


def yaml_of(text: str) -> Value:
    """Return the data of a YAML text. Raises `Unreadable`."""
    reading = read_yaml(text)
    if reading.problems:
        raise Unreadable(f"it is not YAML: {reading.problems[0].message}")
    return to_value(reading.node) if reading.node is not None else None
