"""Data as YAML text: it reads back as the same data, and looks as a person would write it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.data import Value, read_yaml, to_value
from prosa.data.limits import MAX_DEPTH
from prosa.data.yaml_write import write_yaml
from tests.depth import examples


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, ""),
        ({"a": "b c", "i": 1, "t": True, "z": None}, "a: b c\ni: 1\nt: true\nz: null\n"),
        (
            {"a": "no", "b": "1.10", "c": "x: y", "d": "# x", "e": ""},
            'a: "no"\nb: "1.10"\nc: "x: y"\nd: "# x"\ne: ""\n',
        ),
        ({"url": "/a/b?c", "t": "svc:x", "p": "$.a"}, 'url: "/a/b?c"\nt: svc:x\np: "$.a"\n'),
        ({"l": ["a", 1], "m": [], "o": {}}, "l: [a, 1]\nm: []\no: {}\n"),
        ({"l": [{"a": 1, "b": [[2]]}, "c"]}, "l:\n  - a: 1\n    b:\n      - [2]\n  - c\n"),
        ({"f": 1.5, "i": float("inf"), "g": 1e21}, "f: 1.5\ni: .inf\ng: 1e+21\n"),
        ({"m": "a\nb\u2028c\x7f"}, 'm: "a\\nb\\u2028c\\u007f"\n'),
    ],
)
def test_new_yaml_looks_as_a_person_would_write_it(value: dict[str, Value], text: str):
    assert write_yaml(value) == text


DATA = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=10), inner, max_size=4)),
    max_leaves=12,
)


@settings(max_examples=examples(300), deadline=None)
@given(st.dictionaries(st.text(max_size=10), DATA, min_size=1, max_size=5))
def test_it_reads_back_as_the_same_data(value: dict[str, Value]):
    reading = read_yaml(write_yaml(value))
    assert reading.problems == ()
    assert reading.node is not None
    assert to_value(reading.node) == value


def test_data_nested_too_deep_is_refused():
    value: Value = "x"
    for _ in range(MAX_DEPTH + 2):
        value = {"a": value}
    with pytest.raises(ValueError, match="deeper"):
        write_yaml(value)
