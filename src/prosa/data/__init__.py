"""Data with a place for every key and value: YAML 1.2 core, JSON, pointers, front matter. Pure."""

from prosa.data.front_matter import FrontMatter, split_front_matter
from prosa.data.json_reader import read_json
from prosa.data.json_values import JsonError, parse_json
from prosa.data.pointer import format_pointer, key_span_at, node_at, parse_pointer, span_at
from prosa.data.reading import Reading
from prosa.data.tree import Entry, Mapping, Node, Scalar, Sequence, Style, Value, to_value
from prosa.data.yaml import read_yaml

__all__ = [
    "Entry",
    "FrontMatter",
    "JsonError",
    "Mapping",
    "Node",
    "Reading",
    "Scalar",
    "Sequence",
    "Style",
    "Value",
    "format_pointer",
    "key_span_at",
    "node_at",
    "parse_json",
    "parse_pointer",
    "read_json",
    "read_yaml",
    "span_at",
    "split_front_matter",
    "to_value",
]
