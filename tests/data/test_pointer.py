"""JSON Pointers, and the places they name in a tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.data import format_pointer, key_span_at, node_at, parse_pointer, read_yaml, span_at, to_value
from tests.depth import examples

TEXT = 'a: {b: [10, {"c/d": x}]}\n"~": {"": [deep]}\n'


@given(st.lists(st.text(st.sampled_from("~/01aé "), max_size=6), max_size=5))
@settings(max_examples=examples(60), deadline=None)
def test_formatting_and_parsing_are_inverse(parts: list[str]) -> None:
    assert parse_pointer(format_pointer(parts)) == tuple(parts)


@pytest.mark.parametrize("text", ["a", "#/a", "/a~", "/a~2", "/~~1"])
def test_what_is_no_pointer_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="JSON Pointer"):
        parse_pointer(text)


@pytest.mark.parametrize(
    ("pointer", "value", "span", "key"),
    [
        ("/a/b/0", 10, "10", "10"),
        ("/a/b", [10, {"c/d": "x"}], '[10, {"c/d": x}]', "b"),
        ("/a/b/1/c~1d", "x", "x", '"c/d"'),
        ("/~0//0", "deep", "deep", "deep"),
        ("/~0/", ["deep"], "[deep]", '""'),
    ],
)
def test_a_pointer_names_a_node_and_its_key(pointer: str, value: object, span: str, key: str) -> None:
    root = read_yaml(TEXT).node
    assert root is not None
    node = node_at(root, pointer)
    assert node is not None
    assert to_value(node) == value
    assert span_at(root, pointer).of(TEXT) == span
    assert key_span_at(root, pointer).of(TEXT) == key


@pytest.mark.parametrize(
    ("pointer", "nearest", "key"),
    [
        ("/a/x/y", '{b: [10, {"c/d": x}]}', "a"),
        ("/a/b/7", '[10, {"c/d": x}]', "b"),
        ("/a/b/-", '[10, {"c/d": x}]', "b"),
        ("/a/b/00", '[10, {"c/d": x}]', "b"),
        ("/a/b/0/z", "10", "10"),
        ("/a/b/" + "9" * 5000, '[10, {"c/d": x}]', "b"),
    ],
)
def test_a_pointer_into_nothing_has_the_place_of_its_nearest_ancestor(pointer: str, nearest: str, key: str) -> None:
    root = read_yaml(TEXT).node
    assert root is not None
    assert node_at(root, pointer) is None
    assert span_at(root, pointer).of(TEXT) == nearest
    assert key_span_at(root, pointer).of(TEXT) == key


def test_the_root_is_the_empty_pointer() -> None:
    root = read_yaml("[1]").node
    assert root is not None
    assert node_at(root, "") is root
    assert key_span_at(root, "") == span_at(root, "") == root.span
