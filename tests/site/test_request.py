"""The request of an action: where it goes, what is in it, and what is refused with which words."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prosa.site.problems import RequestError
from prosa.site.request import build_request
from tests.depth import examples
from tests.site.actions import BOOK, ROOT, SAILINGS, at, with_auth


def built(action: dict[str, Any], given: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return build_request(action, given, **{"site_root": ROOT, **more}).as_dict(show=more.pop("show", True))


def refused(action: dict[str, Any], given: dict[str, Any] | None = None, **more: Any) -> list[str]:
    with pytest.raises(RequestError) as caught:
        build_request(action, given, **{"site_root": ROOT, **more})
    assert str(caught.value) == "\n".join(map(str, caught.value.problems))
    return [str(each) for each in caught.value.problems]


def test_h14_the_request_of_a_read_in_the_keys_of_the_interface():
    """H11, H14: method and URL, query, accept; nothing else."""
    assert built(SAILINGS, {"query": {"harbour": "Bergen", "deck": ["upper", "lower"], "cursor": "c/1"}}) == {
        "method": "GET",
        "url": "https://ferries.example/api/sailings",
        "query": [["harbour", "Bergen"], ["deck", "upper"], ["deck", "lower"], ["cursor", "c/1"], ["seats", "1"]],
        "headers": {"Accept": "application/json"},
        "body": None,
    }


def test_h14_the_request_of_a_change():
    """H14, HA10, HA10a, HA16."""
    found = built(BOOK, {"path": {"sailing": "a/b ü"}, "body": {"name": "Ada"}}, token="t0", idempotency_key="k1")
    assert found == {
        "method": "POST",
        "url": "https://ferries.example/api/sailings/a%2Fb%20%C3%BC/bookings",
        "query": [],
        "headers": {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Idempotency-Key": "k1",
            "Authorization": "Bearer t0",
        },
        "body": {"name": "Ada"},
    }


@pytest.mark.parametrize(
    ("url", "root", "expected"),
    [
        ("/a", "https://x.example", "https://x.example/a"),
        ("/a", "https://x.example/base", "https://x.example/a"),
        ("a", "https://x.example/base", "https://x.example/base/a"),
        ("https://X.example:443/a", "https://x.example", "https://X.example:443/a"),
        ("/ä b".replace(" ", ""), "https://x.example", "https://x.example/%C3%A4b"),
        ("/a/../b", "https://x.example", "https://x.example/b"),
        ("/a%20b", "https://x.example:8443", "https://x.example:8443/a%20b"),
    ],
)
def test_ha12_urls_are_resolved_against_the_root(url: str, root: str, expected: str):
    """H14, HA6, HA12."""
    assert built(at(url), site_root=root)["url"] == expected


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example/a",
        "//other.example/a",
        "http://ferries.example/a",
        "https://ferries.example:444/a",
        "https://user:pw@ferries.example/a",
        "https://ferries.example@other.example/a",
        "/a\r\nX: y",
        "/a b",
        "/a#b",
        "\\\\other.example/a",
        "/{",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "https://[::1/a",
        "",
    ],
)
def test_ha12_a_url_that_leaves_the_site_or_is_none_is_refused(url: str):
    (problem,) = refused(at(url))
    assert problem.startswith("action `url`: ")


def test_ha12_a_value_in_the_host_cannot_lead_to_another_origin():
    assert "another origin" in refused(at("https://{host}/a"), {"path": {"host": "other.example"}})[0]
    assert built(at("https://{host}/a"), {"path": {"host": "ferries.example"}})["url"] == f"{ROOT}/a"


@pytest.mark.parametrize(
    "root", ["", "ferries.example", "ftp://x.example", "https://", "https://a@x.example", "https://x.example/?q"]
)
def test_a_site_root_that_is_none_is_refused(root: str):
    assert refused(at("/a"), site_root=root)[0].startswith("site root: ")


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ({"id": "x"}, ["action `url`: is missing", "action `method`: must be one of GET"]),
        ({"method": "TRACE", "url": "/a"}, ["action `method`: must be one of GET"]),
        (at("/a", auth={"type": "beerer"}), ["action `auth.type`: must be one of none, bearer"]),
        (at("/a", query={"required": "x"}), ["action `query.required`: must be a list"]),
        (at("/a", query=3), ["action `query`: must be a mapping"]),
        (at("/a", accept="x\r\ny"), ["action `accept`: must be a media type"]),
        (at("/a", content_type="x\n"), ["action `content_type`: must be one media type"]),
        (at("/a", body_schema={"type": 3}), ["action `body_schema`: is not a JSON Schema"]),
        (
            at("/a", pagination={"response": {"next_cursor_jsonpath": "$..a"}}),
            ["action `next_cursor_jsonpath`: uses `..`"],
        ),
    ],
)
def test_h11_a_declaration_of_which_no_request_can_be_made(action: dict[str, Any], expected: list[str]):
    """H11, HA18."""
    found = refused(action)
    assert [each.startswith(words) for each, words in zip(found, expected, strict=True)] == [True] * len(expected)


def test_a_method_in_small_letters_is_understood():
    assert built({"method": "get", "url": "/a"})["method"] == "GET"


def test_h13_every_problem_of_the_input_is_said_at_once():
    """H13, HA11, HA10, HA16."""
    found = refused(
        BOOK | {"query": {"required": ["lang"]}},
        {"query": {"lnag": "no"}, "path": {"saling": 1}, "body": {"seats": 0, "extra": 1}, "quary": {}},
        token="a\nb",
    )
    assert found == [
        "input `quary`: is not part of an input; did you mean `query`?",
        "path `saling`: is not declared; did you mean `sailing`?",
        "path `sailing`: is required: it is part of the URL, and was not given",
        "token: must not have line ends",
        "query `lnag`: is not declared; did you mean `lang`?",
        "query `lang`: is required, and was not given",
        *[each for each in found if each.startswith("body")],
    ]
    assert sum(each.startswith("body") for each in found) == 3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"harbour": "x", "seats": 0}, "query `seats`: expected a number of at least 1"),
        ({"harbour": "x", "seats": "two"}, "query `seats`: expected an integer"),
        ({"harbour": "x", "deck": ["roof"]}, "query `deck`: expected one of"),
        ({"harbour": "x", "day": "soon"}, "query `day`: "),
        ({"harbour": {"a": 1}}, "query `harbour`: must be a text, a number"),
        ({"harbour": [["a"]]}, "query `harbour`: must be a text, a number"),
        ({"harbour": float("nan")}, "query `harbour`: must be a text, a number"),
        ({"harbour": "a\r\nX: y"}, "query `harbour`: must not have line ends"),
        ({"harbour": "a\0"}, "query `harbour`: must not have NUL"),
        ({"harbour": ["a"] * 1001}, "query `harbour`: has 1001 values"),
        ({"harbour": "x" * 20_000}, "query: makes a URL of more than"),
        ({"harbour": None}, "query `harbour`: is required"),
    ],
)
def test_ha11_values_are_of_the_declared_types(given: dict[str, Any], words: str):
    (problem,) = refused(SAILINGS, {"query": given})
    assert problem.startswith(words)


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (7, "7"), (2.0, "2"), (0.5, "0.5"), ("", ""), ("1", "1")])
def test_ha11_values_become_texts(value: Any, text: str):
    assert built(SAILINGS, {"query": {"harbour": value, "seats": "2"}})["query"] == [["harbour", text], ["seats", "2"]]


def test_ha11_undeclared_parameters_go_only_where_they_are_allowed():
    """HA11a. What is not declared is refused; a list repeats its parameter."""
    decks = built(SAILINGS, {"query": {"harbour": "Bergen", "deck": ["upper", "lower"], "seats": "2"}})["query"]
    assert [pair for pair in decks if pair[0] == "deck"] == [["deck", "upper"], ["deck", "lower"]]
    assert built(at("/a"), {"query": {"b": 1}}, allow_undeclared=True)["query"] == [["b", "1"]]
    assert refused(at("/a"), {"query": {"b": 1}}) == [
        "query `b`: is not declared; the action declares no query parameters"
    ]


def test_ha11_a_description_that_is_no_schema_says_nothing():
    action = at("/a", query={"properties": {"day": {"type": "day"}, "hour": None}, "later": [1]})
    assert built(action, {"query": {"day": "x", "hour": 3}})["query"] == [["day", "x"], ["hour", "3"]]


def test_a_query_in_the_url_stays_and_what_is_given_wins():
    action = at("/a?kind=x&lang={lang}", query={"optional": ["kind"]})
    assert built(action, {"path": {"lang": "a&b"}})["query"] == [["kind", "x"], ["lang", "a&b"]]
    assert built(action, {"path": {"lang": "no"}, "query": {"kind": "y"}})["query"] == [["lang", "no"], ["kind", "y"]]


@pytest.mark.parametrize("value", [".", "..", "", "a\r\nb", {"a": 1}, ["a"], None])
def test_ha10_values_that_are_no_segment_are_refused(value: Any):
    (problem,) = refused(at("/x/{id}/y"), {"path": {"id": value}})
    assert problem.startswith("path `id`: ")


@settings(max_examples=examples(60), deadline=None)
@given(st.text(min_size=1), st.text())
def test_ha10_ha11_any_value_stays_in_its_place(segment: str, value: str):
    """HA10, HA11: whatever the text, it is one segment and one parameter, or it is refused."""
    action = at("/x/{id}/y", query={"required": ["q"]})
    try:
        request = build_request(action, {"path": {"id": segment}, "query": {"q": value}}, site_root=ROOT)
    except RequestError:
        return
    parts = urlsplit(request.address())
    assert parts.netloc == "ferries.example"
    assert [unquote(each) for each in parts.path.split("/")] == ["", "x", segment, "y"]
    assert parse_qsl(parts.query, keep_blank_values=True) == [("q", value)]


@pytest.mark.parametrize(
    ("auth", "place", "sent", "shown"),
    [
        ({"type": "bearer"}, "headers", ("Authorization", "Bearer s3cret"), "Bearer ***"),
        ({"type": "oauth2", "token_url": "/token"}, "headers", ("Authorization", "Bearer s3cret"), "Bearer ***"),
        ({"type": "api_key"}, "headers", ("X-API-Key", "s3cret"), "***"),
        ({"type": "api_key", "in": "header", "name": "X-Pass"}, "headers", ("X-Pass", "s3cret"), "***"),
        ({"type": "api_key", "in": "query", "name": "key"}, "query", ("key", "s3cret"), "***"),
        ({"type": "cookie", "name": "session"}, "headers", ("Cookie", "session=s3cret"), "session=***"),
        ({"type": "cookie"}, "headers", ("Cookie", "s3cret"), "***"),
    ],
)
def test_h12_ha15_where_the_token_goes_and_how_it_is_shown(
    auth: dict[str, Any], place: str, sent: tuple[str, str], shown: str
):
    """H12, HA15, X8."""
    request = build_request(with_auth(**auth), {"query": {"harbour": "x"}}, site_root=ROOT, token="s3cret")
    assert dict(request.as_dict(show=True)[place])[sent[0]] == sent[1]
    assert dict(request.as_dict()[place])[sent[0]] == shown
    assert "s3cret" not in f"{request.as_dict()} {request!r} {request.address(show=False)}"
    assert "s3cret" not in str(request.without_credential().as_dict(show=True))


@pytest.mark.parametrize("auth", [None, {}, {"type": "none"}])
def test_ha14_no_credential_is_sent_where_none_is_declared(auth: dict[str, str] | None):
    assert "s3cret" not in str(built({**SAILINGS, "auth": auth}, {"query": {"harbour": "x"}}, token="s3cret"))


def test_ha15_a_key_in_the_query_counts_as_the_parameter_it_is():
    action = at("/a", query={"required": ["key"]}, auth={"type": "api_key", "in": "query", "name": "key"})
    assert built(action, token="t")["query"] == [["key", "t"]]
    assert refused(action) == ["query `key`: is required, and was not given"]


@pytest.mark.parametrize("token", ["a\r\nX: y", "a\n", "", " ", "ü", "a\0b", " ab"])
def test_x8_a_token_that_no_header_carries_is_refused_and_not_repeated(token: str):
    (problem,) = refused(BOOK, {"path": {"sailing": 1}, "body": {"name": "A"}}, token=token)
    assert problem.startswith("token: ") and (not token.strip() or token not in problem)


@pytest.mark.parametrize(
    ("root", "goes"),
    [
        ("http://x.example", False),
        ("http://127.0.0.1:8", True),
        ("http://[::1]:8", True),
        ("http://localhost", True),
        ("http://localhost.example", False),
    ],
)
def test_x8_no_token_over_plain_http_but_to_this_machine(root: str, goes: bool):
    given = {"query": {"harbour": "x"}}
    if goes:
        assert "Authorization" in built(with_auth(type="bearer"), given, site_root=root, token="t")["headers"]
    else:
        assert "plain http" in refused(with_auth(type="bearer"), given, site_root=root, token="t")[0]


@pytest.mark.parametrize("name", ["Host", "content-length", "Transfer-Encoding"])
def test_a_page_cannot_put_a_key_into_a_header_that_frames_the_request(name: str):
    assert refused(with_auth(type="api_key", name=name), {"query": {"harbour": "x"}}, token="t")[0].startswith(
        "action `auth.name`"
    )


@pytest.mark.parametrize(
    ("more", "body", "content"),
    [
        ({"body_schema": {"required": ["a"]}}, {"a": "ü"}, '{"a":"ü"}'),
        ({"body_schema": "/schema.json"}, [1], "[1]"),
        ({"content_type": "text/plain"}, "a\nb", "a\nb"),
        ({"content_type": "application/problem+json"}, {"a": 1}, '{"a":1}'),
        ({"content_type": "application/x-www-form-urlencoded"}, {"a": "x y&", "b": [1, True]}, "a=x+y%26&b=1&b=true"),
        ({"body_schema": {}}, None, "{}"),
    ],
)
def test_ha16_the_body_is_sent_as_it_is_declared(more: dict[str, Any], body: Any, content: str):
    request = build_request({"method": "POST", "url": "/a", **more}, {"body": body}, site_root=ROOT)
    assert request.content == content.encode()
    assert request.headers["Content-Type"] == more.get("content_type", "application/json")


@pytest.mark.parametrize(
    ("more", "body", "words"),
    [
        ({}, {"a": 1}, "body: the action declares neither"),
        ({"body_schema": {"properties": {}}}, [], "body: expected object"),
        ({"content_type": "text/plain"}, {"a": 1}, "body: must be a text"),
        ({"content_type": "application/json"}, float("inf"), "body: "),
        ({"body_schema": {"required": ["a"]}}, None, "body: "),
        ({"method": "GET", "body_schema": {}}, {}, "body: a GET request has no body"),
    ],
)
def test_ha16_bodies_that_are_refused(more: dict[str, Any], body: Any, words: str):
    (problem,) = refused({"method": "PUT", "url": "/a", **more}, {"body": body})
    assert problem.startswith(words)


@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/x-www-form-urlencoded"])
def test_ha16_half_a_surrogate_pair_is_refused_in_every_kind_of_body(kind: str):
    body: Any = "a\udcff" if kind == "text/plain" else {"a": "\udcff"}
    assert "surrogate" in refused({"method": "POST", "url": "/a", "content_type": kind}, {"body": body})[0]


@pytest.mark.parametrize("key", ["a\r\nX: y", "ü", "a\0"])
def test_h19b_a_key_that_no_header_carries_is_refused(key: str):
    action = {"method": "POST", "url": "/a"}
    assert refused(action, idempotency_key=key) == ["input `idempotency_key`: must be printable ASCII on one line"]


def test_what_is_no_action_and_no_input_is_refused_in_words():
    assert refused([], {}) == ["action: must be an object with `id`, `method` and `url`"]  # type: ignore[arg-type]
    assert refused(at("/a"), [1]) == ["input: must be an object with `query`, `path` and `body`"]  # type: ignore[arg-type]


def test_x8_a_hidden_key_in_a_url_is_three_stars():
    request = build_request(at("/a", auth={"type": "api_key", "in": "query"}), site_root=ROOT, token="s3cret")
    assert request.address(show=False) == f"{ROOT}/a?api_key=***"
    assert request.address() == f"{ROOT}/a?api_key=s3cret"


def test_h19b_only_a_change_carries_an_idempotency_key():
    assert "Idempotency-Key" not in built(at("/a"), idempotency_key="k")["headers"]


_JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "in",
                    "name",
                    "required",
                    "optional",
                    "properties",
                    "request",
                    "response",
                    "next_link_jsonpath",
                ]
            )
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@settings(max_examples=examples(150), deadline=None)
@given(
    st.dictionaries(st.sampled_from([*SAILINGS, *BOOK]), _JUNK),
    st.dictionaries(st.sampled_from(["query", "path", "body"]), _JUNK),
)
def test_no_action_and_no_input_ends_in_anything_but_a_request_or_a_refusal(
    action: dict[str, Any], given: dict[str, Any]
):
    """HW9b: an action comes from any site."""
    try:
        request = build_request({"method": "POST", "url": "/a", **action}, given, site_root=ROOT, token="t")
    except RequestError as error:
        assert error.problems
    else:
        assert request.address().startswith(f"{ROOT}/")
