"""JSONPath to one value: what is one, and where a text stops being one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.dialects.mdh.jsonpath import MAX_CHARACTERS, MAX_INDEX, JsonPathError, parse_jsonpath
from tests.depth import examples
from tests.work import is_quick


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("$", ()),
        ("$.a", ("a",)),
        ("$.a.b_2.ü", ("a", "b_2", "ü")),
        ("$['a']", ("a",)),
        ('$["a"]', ("a",)),
        ("$[0][-1][12]", (0, -1, 12)),
        ("$ .a [ 'b' ]\n[ 0 ]", ("a", "b", 0)),
        ("$['']", ("",)),
        ("$['a\\'b\"c']", ("a'b\"c",)),
        ('$["a\\"b\'c"]', ("a\"b'c",)),
        ("$['\\u0061\\n\\/\\\\']", ("a\n/\\",)),
        ("$['\\uD83D\\uDE00']", ("\U0001f600",)),
        (f"$[{MAX_INDEX}]", (MAX_INDEX,)),
    ],
)
def test_ha18_paths_to_one_value(text: str, parts: tuple[str | int, ...]):
    """HA18."""
    assert parse_jsonpath(text) == parts


@pytest.mark.parametrize(
    ("text", "offset", "words"),
    [
        ("", 0, "begin with `$`"),
        ("a.b", 0, "begin with `$`"),
        (" $.a", 0, "begin with `$`"),
        ("$.a ", 3, "end with white space"),
        ("$a", 1, "expected"),
        ("$.", 2, "without a name"),
        ("$.a.", 4, "without a name"),
        ("$..a", 1, "several values"),
        ("$.*", 2, "wildcard"),
        ("$[*]", 2, "wildcard"),
        ("$[0:1]", 3, "slice"),
        ("$[:1]", 2, "slice"),
        ("$[0,1]", 3, "list of selectors"),
        ("$['a','b']", 5, "list of selectors"),
        ("$[?@.a]", 2, "filter"),
        ("$.a-b", 3, "expected"),
        ("$.1", 2, "expected"),
        ("$[a]", 2, "neither"),
        ("$[]", 2, "neither"),
        ("$[01]", 2, "neither"),
        ("$[-0]", 2, "neither"),
        ("$[0", 3, "no `]`"),
        ("$['a", 2, "not closed"),
        ("$['a']]", 6, "expected"),
        ("$['\\x']", 3, "escape"),
        ("$['\\\"']", 3, "escape"),
        ("$['\\ud800']", 3, "surrogate"),
        ("$['a\n']", 4, "control character"),
        (f"$[{MAX_INDEX + 1}]", 2, "too large"),
        ("$[" + "9" * 500 + "]", 2, "too large"),
        ("$" + ".a" * MAX_CHARACTERS, MAX_CHARACTERS, "longer"),
    ],
)
def test_ha18_anything_else_is_an_error_at_its_place(text: str, offset: int, words: str):
    """HA18."""
    with pytest.raises(JsonPathError) as raised:
        parse_jsonpath(text)
    assert raised.value.offset == offset
    assert words in raised.value.message


@settings(max_examples=examples(300), deadline=None)
@given(st.text("$.[]'\"\\ua0*?:,- \n", max_size=20))
def test_ha18_any_text_is_a_path_or_an_error_inside_it(text: str):
    """HA18."""
    try:
        parts = parse_jsonpath(text)
    except JsonPathError as error:
        assert 0 <= error.offset <= len(text)
    else:
        assert all(isinstance(part, str | int) for part in parts)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.one_of(st.text(max_size=8), st.integers(-MAX_INDEX, MAX_INDEX)), max_size=5))
def test_ha18_names_in_quotes_come_back(parts: list[str | int]):
    """HA18. Every name and index has a path."""
    import json

    written = "".join(f"[{json.dumps(part)}]" if isinstance(part, str) else f"[{part}]" for part in parts)
    assert parse_jsonpath("$" + written) == tuple(parts)


def test_a_long_path_takes_no_time():
    def work() -> None:
        for text in ("$" + "['a" * 300, "$" + " " * 998, "$['" + "\\u0041" * 150):
            with pytest.raises(JsonPathError):
                parse_jsonpath(text)

    assert is_quick(work, 0.5)
