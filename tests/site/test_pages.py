"""From page to page: which signal counts, where it ends, and what goes round in circles."""

from __future__ import annotations

from typing import Any

import pytest

from prosa.site.contract import Contract, read_contract
from prosa.site.pages import MAX_PAGES, Pages, items_of, next_page, value_at
from prosa.site.problems import PageProblem
from prosa.site.request import build_request
from tests.site.actions import ROOT, SAILINGS, at


def contract(**response: str) -> Contract:
    return read_contract({**SAILINGS, "pagination": {"request": {"cursor_param": "cursor"}, "response": response}})


BOTH = contract(next_cursor_jsonpath="$.page.next_cursor", next_link_jsonpath="$.links.next")
CURSOR = contract(next_cursor_jsonpath="$.page.next_cursor")
LINK = contract(next_link_jsonpath="$.links['next']")


def start(of: Contract = BOTH, **more: Any) -> Pages:
    return Pages(build_request(of, {"query": {"harbour": "Bergen"}}, site_root=ROOT, **more))


def answer(cursor: Any = None, link: Any = None) -> dict[str, Any]:
    return {"page": {"next_cursor": cursor}, "links": {"self": "/x"} | ({} if link is None else {"next": link})}


@pytest.mark.parametrize(
    ("of", "page", "query"),
    [
        (CURSOR, answer("c2"), [("harbour", "Bergen"), ("seats", "1"), ("cursor", "c2")]),
        (CURSOR, answer(7), [("harbour", "Bergen"), ("seats", "1"), ("cursor", "7")]),
        (CURSOR, answer(None, "/api/sailings?p=2"), None),
        (CURSOR, answer(""), None),
        (CURSOR, {}, None),
        (CURSOR, [], None),
        (CURSOR, {"page": None}, None),
        (LINK, answer("c2"), None),
        (LINK, answer("c2", "/api/sailings?p=2"), [("p", "2")]),
        (BOTH, answer("c2", "?p=2"), [("p", "2")]),
        (BOTH, answer("c2"), [("harbour", "Bergen"), ("seats", "1"), ("cursor", "c2")]),
        (BOTH, answer(None, "https://ferries.example:443/api/sailings?p=2#x"), [("p", "2")]),
        (BOTH, answer(), None),
        (read_contract(at("/api/sailings", query={"required": ["harbour"]})), answer("c2", "/x"), None),
    ],
)
def test_ha17_only_declared_signals_count(of: Contract, page: Any, query: list[tuple[str, str]] | None):
    """H15, H16b, HA17, HA18."""
    found = next_page(of, page, start(of))
    assert (found and list(found.request.query)) == query
    assert found is None or (found.count == 2 and found.request.headers == start(of).request.headers)


def test_ha17_a_cursor_replaces_the_one_before():
    first = next_page(CURSOR, answer("c2"), start(CURSOR))
    assert first is not None
    second = next_page(CURSOR, answer("c3"), first)
    assert second is not None and second.request.query == (("harbour", "Bergen"), ("seats", "1"), ("cursor", "c3"))
    assert second.count == 3


@pytest.mark.parametrize("page", [answer("c2"), answer("c2", "/api/sailings?p=2")])
def test_ha17_hw7b_a_page_that_comes_again_ends_the_walk(page: Any):
    """HA17, HW7b: a server that starts anew without a word must not keep a client for ever."""
    state = next_page(BOTH, page, start())
    assert state is not None
    with pytest.raises(PageProblem, match="cycle"):
        next_page(BOTH, page, state)


@pytest.mark.parametrize(
    "link", ["https://other.example/x", "//other.example/x", "http://ferries.example/x", "https://ferries.example:444/"]
)
def test_ha12_ha17_a_foreign_next_link_is_not_followed(link: str):
    with pytest.raises(PageProblem, match="another origin"):
        next_page(BOTH, answer("c2", link), start())


@pytest.mark.parametrize(
    "page",
    [
        answer({"a": 1}),
        answer(True),
        answer(1.5),
        answer("c\r\nX: y"),
        answer("c" * 5000),
        answer(None, "https://[::1"),
        answer(None, ["/x"]),
        answer(None, "javascript:1"),
        answer(None, "/a b"),
    ],
)
def test_ha17_signals_of_no_use_are_said(page: Any):
    with pytest.raises(PageProblem):
        next_page(BOTH, page, start())


def test_ha17_a_cursor_needs_a_parameter():
    of = read_contract({**SAILINGS, "pagination": {"response": {"next_cursor_jsonpath": "$.c"}}})
    with pytest.raises(PageProblem, match="cursor_param"):
        next_page(of, {"c": "x"}, start(of))


def test_ha17_pages_have_a_limit():
    assert Pages(start().request, count=MAX_PAGES).full and not start().full
    assert Pages(start().request, count=2, limit=2).full


def test_ha15_the_credential_goes_along_within_the_origin():
    of = read_contract({**SAILINGS, "auth": {"type": "api_key", "in": "query", "name": "key"}})
    found = next_page(of, answer(None, "/next?key=theirs&p=2"), start(of, token="t"))
    assert found is not None and found.request.sent_query() == [("p", "2"), ("key", "t")]


@pytest.mark.parametrize(
    ("page", "items"),
    [
        ([1, 2], [1, 2]),
        ({"offers": [{"id": 1}], "page": {}, "links": []}, [{"id": 1}]),
        ({"offers": [], "count": 0}, []),
        ({"a": [1], "b": [2]}, [{"a": [1], "b": [2]}]),
        ({"name": "x"}, [{"name": "x"}]),
        ("text", ["text"]),
    ],
)
def test_h16b_the_items_of_a_page(page: Any, items: list[Any]):
    assert items_of(page) == items


@pytest.mark.parametrize(
    ("parts", "value"),
    [
        ((), {"a": [1, 2]}),
        (("a", 1), 2),
        (("a", -1), 2),
        (("a", 2), None),
        (("a", "b"), None),
        ((0,), None),
        (("b",), None),
    ],
)
def test_ha18_a_path_leads_to_one_value_or_to_none(parts: tuple[str | int, ...], value: Any):
    assert value_at(parts, {"a": [1, 2]}) == value
