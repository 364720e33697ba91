"""``KEY=VALUE`` put into the path, the query or the body of an action."""

from __future__ import annotations

from typing import Any

import pytest

from prosa.site.contract import object_schema, read_contract
from prosa.site.offer import arranged
from prosa.site.problems import RequestError
from tests.site.actions import BOOK, SAILINGS

NOTE: dict[str, Any] = {
    "method": "POST",
    "url": "/n",
    "content_type": "application/json",
    "query": {"optional": ["dry"]},
}


def put(action: dict[str, Any], *pairs: str, **more: Any) -> dict[str, Any]:
    parts = (each.partition("=") for each in pairs)
    return arranged(read_contract(action), [(key, value) for key, _, value in parts], **more)


@pytest.mark.parametrize(
    ("action", "pairs", "expected"),
    [
        (
            SAILINGS,
            ["harbour=1e5", "deck=upper", "deck=lower"],
            {"query": {"harbour": "1e5", "deck": ["upper", "lower"]}},
        ),
        (BOOK, ["sailing=07", "name=12", "seats=2"], {"path": {"sailing": "07"}, "body": {"name": "12", "seats": 2}}),
        (
            NOTE,
            ["dry=true", "text=hello", "count=3"],
            {"query": {"dry": "true"}, "body": {"text": "hello", "count": 3}},
        ),
        (SAILINGS, [], {}),
    ],
)
def test_h14_every_pair_finds_its_part(action: dict[str, Any], pairs: list[str], expected: dict[str, Any]):
    """H14, HA10, HA11, HA16."""
    assert put(action, *pairs) == expected


def test_pairs_win_over_an_input():
    base = {"path": {"sailing": 1}, "body": {"name": "Ada", "seats": 1}}
    assert put(BOOK, "seats=3", base=base) == {"path": {"sailing": 1}, "body": {"name": "Ada", "seats": 3}}
    assert base["body"] == {"name": "Ada", "seats": 1}


@pytest.mark.parametrize(
    ("action", "pair", "words"),
    [
        (BOOK, "saling=1", "input `saling`: is not declared by the action; did you mean `sailing`?"),
        (BOOK, "nmae=1", "input `nmae`: is not declared by the action; did you mean `name`?"),
        (BOOK, "seats=two", "body `seats`: expected an integer"),
        (SAILINGS, "q=1", "input `q`: is not declared by the action; expected one of `harbour`"),
        ({"method": "GET", "url": "/a"}, "q=1", "input `q`: is not declared by the action, which takes no input"),
    ],
)
def test_ha11_a_name_that_is_not_declared_is_refused_with_the_nearest(action: dict[str, Any], pair: str, words: str):
    with pytest.raises(RequestError) as caught:
        put(action, pair)
    assert str(caught.value).startswith(words)


def test_ha11_undeclared_names_go_into_the_query_where_they_are_allowed():
    assert put(SAILINGS, "q=1", allow_undeclared=True) == {"query": {"q": "1"}}


def test_ha16_a_fetched_schema_types_the_body():
    action = {"method": "PUT", "url": "/a", "body_schema": "/s.json"}
    schema = object_schema({"properties": {"n": {"type": "number"}, "t": {"type": "string"}}})
    assert put(action, "n=2.5", "t=1", schema=schema) == {"body": {"n": 2.5, "t": "1"}}
