"""JSONPath in expectations is RFC 9535 (X4, X9, X28): its grammar, its answers, and what it may cost."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from prosa.evaluation.jsonpath import BadQuery, compile_query
from tests.depth import examples

BOOKS: Any = {
    "books": [{"title": "a", "price": 8}, {"title": "b", "price": 12.5, "isbn": "1"}, {"title": "c"}],
    "true": {"x": [0, False, None, "", [], {}]},
    "☺b": "A\nB",
    "nest": [[1, [2, [3]]], {"k": [4]}],
}

ANSWERS: list[tuple[str, list[str]]] = [
    ("$", [""]),
    ("$.books[0].title", ["/books/0/title"]),
    ("$['books'] [-1]\n['title']", ["/books/2/title"]),
    ("$.books[3]", []),
    ("$.books[-4]", []),
    ("$.books.title", []),
    ("$.books[1, 0, 1].title", ["/books/1/title", "/books/0/title", "/books/1/title"]),
    ("$.books[::-2].title", ["/books/2/title", "/books/0/title"]),
    ("$.books[ 1 : : ].price", ["/books/1/price"]),
    ("$.books[0:9:0]", []),
    ("$.books[0].title[0:1]", []),
    ("$.true.x[*]", [f"/true/x/{index}" for index in range(6)]),
    ("$..true", ["/true"]),
    ("$.☺b", ["/☺b"]),
    ("$.b☺", []),
    ("$['\\u263Ab']", ["/☺b"]),
    ("$..[0]", ["/books/0", "/true/x/0", "/nest/0", "/nest/0/0", "/nest/0/1/0", "/nest/0/1/1/0", "/nest/1/k/0"]),
    (
        "$.nest..*",
        [f"/nest/{each}" for each in ["0", "1", "0/0", "0/1", "0/1/0", "0/1/1", "0/1/1/0", "1/k", "1/k/0"]],
    ),
    ("$.books[?@.price]", ["/books/0", "/books/1"]),
    ("$.books[?!@.price]", ["/books/2"]),
    ("$.books[?@.price > 8 || @.title == 'a'].title", ["/books/0/title", "/books/1/title"]),
    ("$.books[?!(@.price <= 8) && @.isbn].title", ["/books/1/title"]),
    ("$.books[?@.price == $.books[0]['price']]", ["/books/0"]),
    ("$.books[?@.price == @.isbn].title", ["/books/2/title"]),
    ("$.books[?@.price != @.isbn].title", ["/books/0/title", "/books/1/title"]),
    ("$.books[?@.price >= 8.0e0].title", ["/books/0/title", "/books/1/title"]),
    ("$.true.x[?@]", [f"/true/x/{index}" for index in range(6)]),
    ("$.true.x[?(@)]", [f"/true/x/{index}" for index in range(6)]),
    ("$.true.x[?@ == 0]", ["/true/x/0"]),
    ("$.true.x[?@ == false]", ["/true/x/1"]),
    ("$.true.x[?@ <= null]", ["/true/x/2"]),
    ("$.true.x[?@ < 1]", ["/true/x/0"]),
    ("$.true.x[?length(@) == 0]", ["/true/x/3", "/true/x/4", "/true/x/5"]),
    ("$.books[?length(@) >= 2].title", ["/books/0/title", "/books/1/title"]),
    ("$.books[?count(@.*) == 3].title", ["/books/1/title"]),
    ("$[?value(@..k) == 1]", []),
    ("$.nest[?value(@..[0]) == 4]", ["/nest/1"]),
    ("$.nest[?count(@..[0]) > length('☺b')]", ["/nest/0"]),
    ("$[?match(@, 'A.B')]", []),
    ("$[?match(@, 'A[^x]B')]", ["/☺b"]),
    ("$[?search(@, 'B')]", ["/☺b"]),
    ("$[?match(@, 'A')]", []),
    ("$[?search(@, '(')]", []),
]


@pytest.mark.parametrize(("query", "pointers"), ANSWERS, ids=[query for query, _ in ANSWERS])
def test_x28_a_query_finds_what_the_standard_says(query: str, pointers: list[str]):
    """X28."""
    found = compile_query(query).find(BOOKS)
    assert [pointer for pointer, _ in found] == pointers
    for pointer, value in found:
        node = BOOKS
        for part in pointer.split("/")[1:]:
            node = node[int(part)] if isinstance(node, list) else node[part]
        assert value is node


def test_x28_true_is_not_one_however_deep_it_stands():
    """X28."""
    rows: Any = [
        {"a": [1, {"b": 0}], "b": [True, {"b": False}]},
        {"a": [1.0], "b": [1]},
        {"a": {"c": 1}, "b": {"d": 1}},
    ]
    assert [pointer for pointer, _ in compile_query("$[?@.a == @.b]").find(rows)] == ["/1"]


def test_x28_a_text_is_no_document():
    """X28. An output that is a text is one value, whatever it looks like."""
    assert compile_query("$").find("[1, 2") == [("", "[1, 2")]
    assert compile_query("$[*]").find("[1, 2]") == []


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("$", ()),
        ("$.a[0]['b'][-1]", ("a", 0, "b", -1)),
        ("$[ 1 ]", (1,)),
        ("$[*]", None),
        ("$..a", None),
        ("$[0,1]", None),
    ],
)
def test_x28_a_query_for_one_value_has_parts(query: str, parts: Any):
    """X28."""
    assert compile_query(query).parts == parts


@pytest.mark.parametrize(
    ("query", "character", "problem"),
    [
        ("", 1, "does not begin with `$`"),
        (" $", 1, "does not begin with `$`"),
        ("$ ", 3, "ends with white space"),
        ("$.", 3, "a name or `*`"),
        ("$. a", 3, "a name or `*`"),
        ("$.a-0", 4, "has `-` where a segment was expected"),
        ("$.1", 3, "a name or `*`"),
        ("$.. ['a']", 4, "a name or `*`"),
        ("$[a-0]", 3, "no selector"),
        ("$['a'", 6, "no `]` after its `[`"),
        ("$['a',]", 7, "no selector"),
        ("$[]", 3, "no selector"),
        ("$[01]", 3, "no selector"),
        ("$[-0]", 3, "no selector"),
        ("$[9007199254740992]", 3, "an index that is too large"),
        ("$[1:2:3:4]", 8, "no `]` after its `[`"),
        ("$[1 2]", 5, "no `]` after its `[`"),
        ("$[: -2 3]", 8, "no `]` after its `[`"),
        ("$[$.a]", 3, "no selector"),
        ("$['a\\'b\\\"']", 8, "an escape that JSON does not know"),
        ("$['\\ud83d']", 4, "half of a surrogate pair"),
        ("$['a\nb']", 5, "a control character"),
        ("$['a", 3, "a quote that is not closed"),
        ("$[?]", 4, "no condition"),
        ("$[?1]", 5, "a value that is not compared"),
        ("$[?true && @]", 8, "a value that is not compared"),
        ("$[?length(@)]", 13, "a value that is not compared"),
        ("$[?!count(@)]", 13, "a value that is not compared"),
        ("$[?!@.a == 1]", 9, "no `]` after its `[`"),
        ("$[?!!@]", 5, "no condition"),
        ("$[?(@.a) == 1]", 10, "no `]` after its `[`"),
        ("$[?(@.a]", 8, "no `)` after its `(`"),
        ("$[?@.a <> 1]", 9, "no condition"),
        ("$[?@ == [1]]", 9, "no condition"),
        ("$[?@ == 01]", 9, "no condition"),
        ("$[?@ == .1]", 9, "no condition"),
        ("$[?@ == 1.]", 10, "no `]` after its `[`"),
        ("$[?@ == 1e999]", 9, "a number that is too large"),
        ("$[?@ == True]", 9, "no condition"),
        ("$[?@.* == 1]", 7, "a path that may find several"),
        ("$[?match(@, 'a') == true]", 17, "are true or false by themselves"),
        ("$[?count(1) == 1]", 4, "with something other than a path"),
        ("$[?length(@.*) == 1]", 4, "a path that may find several"),
        ("$[?length(@, @) == 1]", 4, "with 2 arguments"),
        ("$[?length(@ @) == 1]", 13, "no `)` after its `(`"),
        ("$[?length(@,) == 1]", 13, "no condition"),
        ("$[?keys(@) == 1]", 4, "no function of the standard"),
        ("$[?count (@) == 1]", 4, "no condition"),
        ("$[?" + "(" * 50 + "@" + ")" * 50 + "]", 44, "nested more than 40 deep"),
        ("$[?" + "length(" * 50 + "@" + ")" * 50 + " == 1]", 284, "nested more than 40 deep"),
        ("$" + "[?@" * 50 + "]" * 50, 124, "nested more than 40 deep"),
    ],
)
def test_x28_only_the_syntax_of_the_standard_is_accepted(query: str, character: int, problem: str):
    """X28, X4. The message says where it stops."""
    with pytest.raises(BadQuery) as caught:
        compile_query(query)
    message = str(caught.value)
    assert message.startswith(f"is not a JSONPath query of RFC 9535: at character {character}, it ")
    assert problem in message


def nested(depth: int) -> Any:
    """Return arrays in arrays."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("query", ["$" + "[0,0]" * 60 + "[1]", "$[?count(@" + "[0,*]" * 60 + ") > 1]"])
def test_x9_selectors_that_multiply_are_bounded(query: str):
    """X9. Sixty times two ways to the same value are 10^18 ways."""
    with pytest.raises(BadQuery, match="visits more than 1,000,000 values"):
        compile_query(query).find(nested(70))


def test_x4_a_deep_output_ends_in_a_bad_query():
    """X4."""
    assert len(compile_query("$..*").find(nested(100))) == 100
    with pytest.raises(BadQuery, match="nested more than 100 deep"):
        compile_query("$..*").find(nested(101))
    with pytest.raises(BadQuery, match="nested too deep"):
        compile_query("$[?@.a == @.b]").find([{"a": nested(5_000), "b": nested(5_000)}])


names = st.sampled_from("abc")
singular = st.lists(names.map(".{}".format) | st.integers(-2, 2).map("[{}]".format), max_size=2).map("".join)
literals = st.sampled_from(["0", "1", "-1.5", "1e0", "'a'", '"b"', "true", "false", "null"])


def segments(conditions: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return some segments, with filters of these conditions."""
    numbers = st.integers(-3, 3).map(str)
    slices = st.lists(numbers | st.just(""), min_size=2, max_size=3).map(":".join)
    selectors = numbers | slices | st.just("*") | names.map("'{}'".format) | conditions.map("?{}".format)
    brackets = st.lists(selectors, min_size=1, max_size=2).map(lambda each: f"[{', '.join(each)}]")
    dots = (names | st.just("*")).map(".{}".format)
    return st.lists(brackets | dots | brackets.map("..{}".format), max_size=3).map("".join)


def conditions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return conditions that have conditions in them."""
    paths = st.builds("{}{}".format, st.sampled_from("@@$"), segments(inner))
    one = st.builds("{}{}".format, st.sampled_from("@@$"), singular)
    numbers = st.builds("{}(@.{}{})".format, st.sampled_from(["count", "value"]), names, segments(inner))
    values = one | literals | one.map("length({})".format) | numbers
    compared = st.builds("{} {} {}".format, values, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), values)
    found = st.builds(
        "{}({}, {})".format, st.sampled_from(["match", "search"]), one, st.sampled_from(["'a.*'", "'^b$'"])
    )
    joined = st.builds("{} {} {}".format, inner, st.sampled_from(["&&", "||"]), inner)
    return compared | found | found.map("!{}".format) | paths.map("!{}.a".format) | joined | joined.map("!({})".format)


queries = segments(st.recursive(names.map("@.{}".format), conditions, max_leaves=3)).map("${}".format)
documents = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([-1.5, 1.0, "", "a", "b", "ab"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@cache
def oracle() -> Any:
    """Return the library that passes the compliance suite of the standard; the package does not need it."""
    from jsonpath_rfc9535 import JSONPathEnvironment

    return JSONPathEnvironment()


LOST = re.compile(r"(?:count|value)\(.*\?.*,")
"""A filter and a comma in the argument of a function: the library loses its place, and refuses the query."""


@given(queries, documents)
@settings(max_examples=examples(2_000, share=25))
def test_x28_queries_find_what_another_library_finds(query: str, document: Any):
    """X28. The same values at the same places in the same order."""
    from jsonpath_rfc9535 import JSONPathSyntaxError

    try:
        compiled = oracle().compile(query)
    except JSONPathSyntaxError:
        assert LOST.search(query)
        reject()
    wanted = [["".join(f"/{part}" for part in node.location), node.value] for node in compiled.finditer(document)]
    try:
        query_here = compile_query(query)
    except BadQuery as error:
        assert "descends" in str(error)
        return
    assert (query_here.parts is not None) == compiled.singular_query()
    assert json.dumps(query_here.find(document)) == json.dumps(wanted)
