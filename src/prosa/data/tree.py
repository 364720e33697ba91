"""Data that remembers its place: the tree both the YAML and the JSON reader build.

Every key and value keeps its span in the source, and every scalar its core value and its source text (X1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeGuard

from msgspec import Struct

from prosa.source import Span

if TYPE_CHECKING:
    from collections import abc

    Value: TypeAlias = "bool | int | float | str | list[Value] | dict[str, Value] | None"
    """Plain data as JSON has it, nested (docs/decisions/0082)."""
    Plain: TypeAlias = "bool | int | float | str | abc.Sequence[Plain] | abc.Mapping[str, Plain] | None"
    """Plain data for what only reads it: every `Value`, and tuples, a `list[str]`, a `dict[str, int]` and the like."""
else:  # msgspec reads the types of fields, and knows no recursive one
    Value = Plain = Any

Style: TypeAlias = Literal["plain", "single", "double", "literal", "folded"]


class Scalar(Struct, frozen=True, gc=False):
    """A scalar. ``value`` is its core value; ``text`` what the author wrote, unquoted and unescaped."""

    value: Value
    text: str
    span: Span
    style: Style = "plain"


class Entry(Struct, frozen=True):
    """One key of a mapping with its value. The key is always a scalar; it counts as its ``text``."""

    key: Scalar
    value: Node

    @property
    def span(self) -> Span:
        """From the first character of the key to the end of the value."""
        return Span(self.key.span.start, max(self.key.span.end, self.value.span.end))


class Mapping(Struct, frozen=True):
    """A mapping; entries keep their order and have distinct keys."""

    entries: tuple[Entry, ...]
    span: Span

    def entry(self, key: str) -> Entry | None:
        """Return the entry of a key, or None."""
        return next((entry for entry in self.entries if entry.key.text == key), None)

    def get(self, key: str) -> Node | None:
        """Return the value of a key, or None when it is absent (a null value is a `Scalar`)."""
        entry = self.entry(key)
        return entry.value if entry else None

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)


class Sequence(Struct, frozen=True):
    """A sequence of nodes."""

    items: tuple[Node, ...]
    span: Span


Node: TypeAlias = Scalar | Mapping | Sequence


def to_value(node: Node) -> Value:
    """Return the plain data of a node. Depth is bounded by the readers, so recursion is safe."""
    if isinstance(node, Scalar):
        return node.value
    if isinstance(node, Sequence):
        return [to_value(item) for item in node.items]
    return {entry.key.text: to_value(entry.value) for entry in node.entries}


def to_mapping(node: Mapping) -> dict[str, Value]:
    """Return the plain data of a mapping."""
    return {entry.key.text: to_value(entry.value) for entry in node.entries}


def items_of(value: Value) -> list[Value]:
    """Return a list as it is, and an empty one in place of anything else."""
    return value if isinstance(value, list) else []


def are_mappings(value: Value) -> TypeGuard[list[dict[str, Value]]]:
    """Return whether plain data is a list of mappings."""
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def is_mapping_of_texts(value: Value) -> TypeGuard[dict[str, str]]:
    """Return whether plain data is a mapping of texts."""
    return isinstance(value, dict) and all(isinstance(member, str) for member in value.values())


def members_of(value: Value) -> dict[str, Value]:
    """Return a mapping as it is, and an empty one in place of anything else."""
    return value if isinstance(value, dict) else {}
