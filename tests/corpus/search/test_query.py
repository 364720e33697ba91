"""The query language: every text has a meaning."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.corpus.query import MAX_TERMS, Query, Term, parse_query
from tests.depth import examples


def shown(query: Query) -> str:
    """A query in a short form: `a|b c -d`."""
    clauses = ["|".join(map(_shown, clause)) for clause in query.clauses]
    return " ".join((*clauses, *(f"-{_shown(term)}" for term in query.excluded)))


def _shown(term: Term) -> str:
    return f"{term.field + ':' if term.field else ''}[{term.text}]{'*' if term.prefix else ''}"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("rate limit", "[rate] [limit]"),
        ('"rate limit" burst', "[rate limit] [burst]"),
        ("“rate limit”", "[rate limit]"),
        ("„rate limit“ x", "[rate limit] [x]"),
        ('"never closed', "[never closed]"),
        ("lim* x", "[lim]* [x]"),
        ('"rate lim"*', "[rate lim]*"),
        ("*lim", "[*lim]"),
        ("l*m", "[l*m]"),
        ("a** )* *", "[a]*"),
        ("a -b", "[a] -[b]"),
        ('-"a b" c', "[c] -[a b]"),
        ("- a", "[a]"),
        ("a-b", "[a-b]"),
        ("--where", "[--where]"),
        ("NOT a b", "[b] -[a]"),
        ("a OR b c", "[a]|[b] [c]"),
        ("a OR b OR c", "[a]|[b]|[c]"),
        ("a OR", "[a]"),
        ("OR a", "[a]"),
        ("a OR OR b", "[a]|[b]"),
        ("a or b", "[a] [or] [b]"),
        ('a "OR" b', "[a] [OR] [b]"),
        ("a AND b", "[a] [b]"),
        ("a OR -b c", "[a] [c] -[b]"),
        ("-a OR b", "[b] -[a]"),
        ("title:a heading:b tag:c tags:d text:e", "title:[a] heading:[b] tags:[c] tags:[d] text:[e]"),
        ('TITLE:"a b" -tag:c', "title:[a b] -tags:[c]"),
        ("title:lim*", "title:[lim]*"),
        ("title: a", "[title:] [a]"),
        ("other:a", "[other:a]"),
        ('other:"a b"', "[other:a b]"),
        ("http://x.y/z", "[http://x.y/z]"),
        ('foo"bar baz"', "[foo] [bar baz]"),
        ("C++ !!! ...", "[C++]"),
        ("日本語 -東京", "[日本語] -[東京]"),
        ("", ""),
        ("  \t\n", ""),
        ("- * OR ( ) : ' \"", ""),
        ("-", ""),
        ("NOT", ""),
    ],
)
def test_a_query_means(text: str, meaning: str):
    assert shown(parse_query(text)) == meaning


def test_a_query_is_read_to_a_limit():
    assert len(parse_query("a " * 5_000).terms) == MAX_TERMS
    assert parse_query("x" * 100_000).terms[0].text == "x" * 2_000


@settings(max_examples=examples(200), deadline=None)
@given(st.one_of(st.text(), st.text(alphabet="ab \"'-*:()ORNT\0日", max_size=60)))
def test_no_text_fails(text: str):
    query = parse_query(text)
    assert all(any(char.isalnum() for char in term.text) or not term.text.isascii() for term in query.terms)
    assert parse_query(text) == query
