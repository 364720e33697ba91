"""The language of conditions: what it reads, and where it says that something is wrong."""

from __future__ import annotations

import pytest

from prosa.corpus.where import WhereError, fields_of, parse_where
from prosa.corpus.where.parse import (
    MAX_CONDITIONS,
    MAX_DEPTH,
    MAX_VALUES,
    MAX_WHERE,
    Compare,
    Constant,
    FieldName,
    Has,
    Join,
    Not,
    constant,
    version_key,
)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("3", "number"), ("-3.5", "number"), (".5", "number"), ("1e3", "number"), ("3.", "number"),
        ("2026", "number"), ("2026-01", "date"), ("2026-01-05", "date"), ("2026-01-05T10:00", "date"),
        ("2026-01-05T10:00:00.5+02:00", "date"), ("2026-1-5", "text"), ("1.2.3", "version"), ("v1.2.3-rc1", "version"),
        ("1.2.3.x", "text"), ("true", "boolean"), ("False", "boolean"), ("null", "null"), ("nulls", "text"),
        ("draft", "text"), ("1" * 400, "text"), ("٣", "text"),
    ],
)  # fmt: skip
def test_a_bare_value_is_what_it_looks_like(text: str, kind: str):
    assert constant(text).kind == kind


def test_versions_sort_as_versions():
    written = ["v0.9", "1.0.0-alpha", "1.0.0-rc1", "1.0.0", "1.0.1", "1.9.2", "1.10.0", "2", "10.0"]
    assert sorted(written, key=lambda text: version_key(text) or "") == written
    assert version_key("1.0.0") == version_key("1") == version_key("v1.0")
    assert version_key("one") is None and version_key(None) is None and version_key("1" * 400) is None


def test_a_condition_is_a_tree():
    tree = parse_where("a.b = 1 and (not has c or d in (x, 'y z'))")
    one = Compare(FieldName("a.b", 0), "=", (Constant("1", "number", 1.0),))
    many = Compare(FieldName("d", 26), "=", (Constant("x"), Constant("y z")))
    assert tree == Join("and", (one, Join("or", (Not(Has(FieldName("c", 21))), many))))
    assert [field.name for field in fields_of(tree)] == ["a.b", "c", "d"]


@pytest.mark.parametrize(
    "text", ["in = 3", "not != x", "has ~ y", "and = or", "'a b' = 1", "has has", "not not has not"]
)
def test_words_of_the_language_can_be_names_and_values(text: str):
    assert list(fields_of(parse_where(text)))


@pytest.mark.parametrize(
    ("text", "column", "found", "expected"),
    [
        ("", 1, "the end", "the name of a field"),
        ("audience", 9, "the end", "an operator: = != < <= > >= ~ in"),
        ("audience =", 11, "the end", "a value"),
        ("audience = = x", 12, "`=`", "a value"),
        ("audience developers", 10, "`developers`", "an operator: = != < <= > >= ~ in"),
        ("a = 1 b = 2", 7, "`b`", "and, or, or the end"),
        ("(a = 1", 7, "the end", "and, or, or `)`"),
        ("a = 1)", 6, "`)`", "and, or, or the end"),
        ("a in 1", 6, "`1`", "`(` and values after in"),
        ("a in (1", 8, "the end", "`,` or `)`"),
        ("a in (1,)", 9, "`)`", "a value"),
        ("a in ()", 7, "`)`", "a value"),
        ("a not b", 7, "`b`", "in"),
        ("has", 4, "the end", "the name of a field"),
        ("has = ", 7, "the end", "a value"),
        ("not", 4, "the end", "the name of a field"),
        ("a ! b", 3, "`!`", "!= or !~, or the word not"),
        ("a = 'b", 5, "an opening '", "a closing ' after it"),
        ("and", 4, "the end", "an operator: = != < <= > >= ~ in"),
        ("a = 1 and", 10, "the end", "the name of a field"),
        ("'' = 1", 1, "``", "the name of a field"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, column: int, found: str, expected: str):
    with pytest.raises(WhereError) as caught:
        parse_where(text)
    error = caught.value
    assert (error.column, error.found, error.expected) == (column, found, expected)
    assert str(error) == f"column {column}: found {found}, expected {expected}"
    assert error.excerpt == f"{text}\n{' ' * (column - 1)}^"


def test_a_long_condition_is_shown_around_the_place():
    text = f"{'a = 1 and ' * 20}b ! c{' and d = 1' * 20}"
    with pytest.raises(WhereError) as caught:
        parse_where(text)
    line, caret = caught.value.excerpt.split("\n")
    assert len(line) <= 121 and line[caret.index("^")] == "!"


@pytest.mark.parametrize(
    "text",
    [
        "x" * (MAX_WHERE + 1),
        "not " * (MAX_DEPTH + 1) + "a = 1",
        "(" * (MAX_DEPTH + 1) + "a = 1" + ")" * (MAX_DEPTH + 1),
        " and ".join(["a = 1"] * (MAX_CONDITIONS + 1)),
        f"a in ({', '.join(['1'] * (MAX_VALUES + 1))})",
        "(" * MAX_WHERE,
    ],
)
def test_limits_are_told(text: str):
    with pytest.raises(WhereError, match="expected at most"):
        parse_where(text)
