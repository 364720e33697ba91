"""Data with a place for every key and value: YAML 1.2 core, JSON, pointers, front matter. Pure.

The readers load on first use: code that only names plain data (`Value`) needs none of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from prosa.data.tree import (
    Entry,
    Mapping,
    Node,
    Plain,
    Scalar,
    Sequence,
    Style,
    Value,
    are_mappings,
    is_mapping_of_texts,
    items_of,
    members_of,
    to_mapping,
    to_value,
)

if TYPE_CHECKING:
    from prosa.data.front_matter import FrontMatter, split_front_matter
    from prosa.data.json import JsonError, nested_deeper, parse_json, read_json
    from prosa.data.pointer import format_pointer, key_span_at, node_at, parse_pointer, span_at
    from prosa.data.reading import Reading
    from prosa.data.yaml import read_yaml

__all__ = [
    "Entry",
    "FrontMatter",
    "JsonError",
    "Mapping",
    "Node",
    "Plain",
    "Reading",
    "Scalar",
    "Sequence",
    "Style",
    "Value",
    "are_mappings",
    "format_pointer",
    "is_mapping_of_texts",
    "items_of",
    "key_span_at",
    "members_of",
    "nested_deeper",
    "node_at",
    "parse_json",
    "parse_pointer",
    "read_json",
    "read_yaml",
    "span_at",
    "split_front_matter",
    "to_mapping",
    "to_value",
]

_PLACES = {
    **dict.fromkeys(("FrontMatter", "split_front_matter"), "front_matter"),
    **dict.fromkeys(("JsonError", "nested_deeper", "parse_json", "read_json"), "json"),
    **dict.fromkeys(("format_pointer", "key_span_at", "node_at", "parse_pointer", "span_at"), "pointer"),
    "Reading": "reading",
    "read_yaml": "yaml",
}


def __getattr__(name: str) -> object:
    """Load a name on first use."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    return value
