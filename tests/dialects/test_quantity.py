"""Quantities, suggestions and tool names."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.diagnostics.nearest import nearest
from prosa.dialects import quantity
from prosa.dialects.markdownlang.fields import MAX_TOOL_NAME, server_tool_name, tool_name


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("30", 30.0),
        ("30s", 30.0),
        ("1.5 m", 90.0),
        ("250ms", 0.25),
        ("1h", 3600.0),
        ("0", None),
        ("-1", None),
        ("s", None),
        ("1d", None),
        ("", None),
        ("1e3", None),
        ("٣", None),
        ("inf", None),
        ("9" * 20, None),
    ],
)
def test_times(text: str, value: float | None):
    assert quantity.seconds(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("128", 128 << 20),
        ("128MB", 128 << 20),
        ("1 GiB", 1 << 30),
        ("256kb", 256 << 10),
        ("10B", 10),
        ("0.5MB", 1 << 19),
        ("0", None),
        ("0.1B", None),
        ("MB", None),
        ("1TB", None),
    ],
)
def test_sizes(text: str, value: int | None):
    assert quantity.size(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1), ("050", 50), ("0", None), ("1.0", None), ("+1", None), ("9" * 30, None)]
)
def test_counts(text: str, value: int | None):
    assert quantity.count(text) == value


@given(st.text(max_size=20))
def test_forms_and_values_agree(text: str):
    assert (quantity.time_form(text) is None) == (quantity.seconds(text) is not None)
    assert (quantity.size_form(text) is None) == (quantity.size(text) is not None)
    assert (quantity.count_form(text) is None) == (quantity.count(text) is not None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("imput", "input"), ("mcp-servers", "mcp_servers"), ("Imports", "imports"), ("author", None), ("x" * 200, None)],
)
def test_the_nearest_known_name(name: str, expected: str | None):
    assert nearest(name, ("input", "output", "imports", "mcp_servers")) == expected


@pytest.mark.parametrize(
    ("name", "wire"),
    [("count", "count"), ("count words", "count_words"), ("é", "_"), ("", "_"), ("a.b/c-d_e", "a_b_c-d_e")],
)
def test_la12_names_are_sanitised(name: str, wire: str):
    """LA12."""
    assert tool_name(name) == wire


def test_l20_tools_of_servers_are_namespaced():
    """L20."""
    assert server_tool_name("filesystem", "read_file") == "mcp__filesystem__read_file"


@given(st.text(max_size=200))
def test_la12_every_wire_name_is_one_that_apis_take(name: str):
    """LA12."""
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", tool_name(name))


def test_la12_long_names_stay_apart():
    """LA12. A hash keeps two names with the same beginning apart."""
    first, second = tool_name("a" * 80), tool_name("a" * 81)
    assert first != second
    assert len(first) == len(second) == MAX_TOOL_NAME
