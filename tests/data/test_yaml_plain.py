"""What is read line by line is what libyaml's events give, down to every span."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.data.yaml import read_yaml
from prosa.data.yaml_events import read_events
from prosa.data.yaml_plain import read_plain_yaml
from tests.depth import examples

PIECES = (
    *("a: ", "bc: ", "a b:\n", "null: ", "- ", "-\n", "\n", "  ", " ", "x", "12", "-5", "1.50", "true", "~", "é", "😀"),
    *("'q'", '"q"', "''", '"\\n"', "# c", " # c\n", "#", ":", "[a, 'b']", "{a: 1, b c: [x]}", "[", "]", "{", "}", ", "),
    *("http://a/b", "2026-01-02T03:04:05Z", "&x ", "*x", "!t ", "|\n", ">\n", "\t", "\r\n", "\x85", "\u2028", "---\n"),
)
WORDS = st.text(st.sampled_from("ab1é:-# .'/"), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=10,
)

PLAIN = [
    "title: Timetable\n",
    'title: "Été: 1"  # behind\ntags: [a, "b", \'c\', 3]\ndate: 2026-02-03T08:30:00Z\n',
    "a:\nb:\n- x\n-\n- y: 1\n  z: {k: v, l: [1, {m: n}]}\n# between\n\nc:\n    d: -5",
    "- - a\n  - b\n-   c:\n      d: http://example.org/#e\n- [ ]\n- {}\n",
]
OTHER = ["", "# only\n", "a: b\n  c\n", "a: 'b\n  c'\n", "a: |\n  b\n", "a: &x 1\nb: *x\n", "a: 1\na: 2\n", "a: b: c\n"]
OTHER += [
    "a: [1,\n 2]\n",
    'a: "\\u0041"\n',
    "a:\tb\n",
    "- a\nb: c\n",
    "a: 1\n b: 2\n",
    "[a: 1]\n",
    "a: [b: 1]\n",
    "a: {b}\n",
]


def same(text: str) -> bool:
    """Whether a text is read line by line; if it is, as its events say."""
    node = read_plain_yaml(text, 3)
    if node is None:
        return False
    exact = read_events(text, 3)
    assert (node, ()) == (exact.node, exact.problems)
    return True


@pytest.mark.parametrize("text", PLAIN)
def test_front_matter_as_most_write_it_is_read_by_its_lines(text: str) -> None:
    assert same(text)


@pytest.mark.parametrize("text", OTHER)
def test_everything_else_is_read_from_events(text: str) -> None:
    assert read_plain_yaml(text, 0) is None
    assert read_yaml(text) == read_events(text, 0)


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
@settings(max_examples=examples(300), deadline=None)
def test_any_text_is_read_as_its_events(text: str) -> None:
    same(text)


@given(VALUES, st.sampled_from([True, False, None]))
@settings(max_examples=examples(150), deadline=None)
def test_what_is_written_as_yaml_is_read_as_its_events(value: Any, flow: bool | None) -> None:
    same(yaml.safe_dump(value, default_flow_style=flow, allow_unicode=True, width=10_000))


def test_deep_nesting_and_long_integers_are_left_to_the_events() -> None:
    assert read_plain_yaml("a: " + "[" * 40 + "]" * 40, 0) is None
    assert read_plain_yaml("".join(" " * at + "a:\n" for at in range(40)), 0) is None
    assert read_plain_yaml("a: " + "1" * 5_000, 0) is None
