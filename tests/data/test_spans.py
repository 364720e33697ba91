"""Every key and value has a span, and the characters there mean what the node says (X1)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from prosa.data import Entry, Mapping, Node, Scalar, Sequence, read_json, read_yaml, to_value
from tests.depth import examples

TEXTS = st.text(st.sampled_from("ab1:-#,[]{}'\"\\ \n\t!&*|>%@`~.é😀\x85\u2028\x7f"), max_size=12)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)
EXPLICIT_INDENTATION = re.compile(r"[|>][-+]?[0-9]")


def nodes(node: Node) -> Iterator[Node]:
    yield node
    if isinstance(node, Sequence):
        for item in node.items:
            yield from nodes(item)
    elif isinstance(node, Mapping):
        for entry in node.entries:
            yield entry.key
            yield from nodes(entry.value)


def same(left: Any, right: Any) -> bool:
    return json.dumps(left) == json.dumps(right)


def padded(text: str, node: Node) -> str:
    """The characters of a node, indented as they were, so that the lines of a block keep their columns."""
    start = node.span.start
    column = start - max(text.rfind("\n", 0, start), text.rfind("\r", 0, start)) - 1
    return " " * column + node.span.of(text)


def check_yaml(text: str) -> None:
    reading = read_yaml(text)
    assert not reading.problems
    if reading.node is None:
        return
    for node in nodes(reading.node):
        if EXPLICIT_INDENTATION.match(node.span.of(text)) or re.search(r"[|>][-+]?[0-9]\S*\n", node.span.of(text)):
            continue
        again = read_yaml(padded(text, node))
        assert not again.problems
        assert same(to_value(again.node) if again.node else None, to_value(node))


@given(VALUES, st.booleans(), st.sampled_from([2, 4]), st.sampled_from(["\n", "\r\n", "\r"]))
@settings(max_examples=examples(120), deadline=None)
@example({"a": "x\n\n", "b": ["y\n", {"c": None, "d": "\nz"}]}, False, 2, "\n")
def test_x1_every_yaml_span_reads_back_to_its_value(value: Any, flow: bool, indent: int, line_break: str) -> None:
    check_yaml(yaml.safe_dump(value, default_flow_style=flow, indent=indent, line_break=line_break, allow_unicode=True))


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  x\n  y\n\n\n# comment\nb: >-\n  z\n\n\nc: |+\n  k\n\n\nd: 1\n",
        "a:\n  b: 1\n  c:\n\n# comment\nd: [1, 2 ]  # more\n",
        "- - a\n  - b\n-\n- c: 1\n  d: 2\n",
        "? a\n: b\n? c\n",
        "a: 'x\n\n  y'\nb: p\n  q\n",
        "{a: [x, {b: c}], 'd': \"e\"}\n",
        "a: !!str 12\nb: ! x\nc: &x [1]\n",
        "a: |\r\n  x\r\n\r\nb: 1\r\n",
        "|\n\n",
        "a: |\n \n  x\n",
    ],
)
def test_x1_spans_of_the_forms_of_yaml(text: str) -> None:
    check_yaml(text)


def test_x1_spans_are_narrow() -> None:
    text = "a: x  # one\nb:\n  c: 1\n  d:\n\n# two\ne: |\n  f\n\n\ng: [1,\n  2]\n"
    root = read_yaml(text).node
    assert isinstance(root, Mapping)
    assert [entry.span.of(text) for entry in root] == ["a: x", "b:\n  c: 1\n  d:", "e: |\n  f\n", "g: [1,\n  2]"]
    inner = root.get("b")
    assert isinstance(inner, Mapping)
    assert inner.span.of(text) == "c: 1\n  d:"
    assert root.span.of(text) == text.rstrip("\n")


def test_x1_an_alias_stands_at_its_own_place() -> None:
    text = "a: &x [1]\nb: *x\n"
    root = read_yaml(text).node
    assert isinstance(root, Mapping)
    alias = root.get("b")
    assert isinstance(alias, Sequence)
    assert alias.span.of(text) == "*x"
    assert alias.items[0].span.of(text) == "1"


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
@settings(max_examples=examples(120), deadline=None)
@example(["\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), -0.0, 1e300, 10**30], True, None)
def test_x1_json_is_yaml(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    for reading in (read_yaml(text), read_json(text)):
        assert not reading.problems
        assert reading.node is not None
        assert same(to_value(reading.node), value)


@given(VALUES, st.sampled_from([None, 0, 3]), st.integers(0, 5))
@settings(max_examples=examples(100), deadline=None)
def test_every_json_span_reads_back_to_its_value(value: Any, indent: int | None, offset: int) -> None:
    text = json.dumps(value, indent=indent)
    reading = read_json(text, offset=offset)
    assert reading.node is not None
    for node in nodes(reading.node):
        piece = text[node.span.start - offset : node.span.end - offset]
        assert piece == piece.strip()
        assert same(json.loads(piece), to_value(node))
        if isinstance(node, Scalar) and not isinstance(node.value, str):
            assert node.text == piece


def test_an_entry_covers_key_and_value() -> None:
    text = '{ "a" : [1 , 2] }'
    root = read_json(text).node
    assert isinstance(root, Mapping)
    entry = root.entry("a")
    assert isinstance(entry, Entry)
    assert entry.span.of(text) == '"a" : [1 , 2]'
    assert math.isclose(len(list(root)), 1)
