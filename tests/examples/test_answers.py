"""What holds for every answer of the example: caching, methods, and problems in the form that was asked for."""

from __future__ import annotations

import pytest

from tests.examples.ferries import FOLDER, PAGES, api, client

SEARCH = "/api/sailings?from=HAR&to=KEL&date=2026-07-01"


def test_h18_what_is_public_and_stays_has_an_etag_and_may_be_kept():
    """H18."""
    at = client()
    answer = at.get("/api/fares")
    assert answer.headers["cache-control"] == "public, max-age=3600"
    again = at.get("/api/fares", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", answer.headers["etag"])
    assert again.headers["cache-control"] == "public, max-age=3600"


@pytest.mark.parametrize(("tag", "status"), [('W/{}, "x"', 304), ("*", 304), ('"x"', 200), ("", 200)])
def test_h18_if_none_match_is_a_list(tag: str, status: int):
    """H18."""
    at = client()
    etag = at.get(SEARCH).headers["etag"]
    assert at.get(SEARCH, headers={"If-None-Match": tag.format(etag)}).status_code == status


def test_h18_a_search_is_asked_for_again_and_changes_its_etag_with_its_answer():
    """H18: seats go, so an answer is used again only after a look at its ETag."""
    from tests.examples.ferries import booked

    at = client()
    first = at.get(SEARCH)
    assert first.headers["cache-control"] == "no-cache"
    booked(at)
    second = at.get(SEARCH, headers={"If-None-Match": first.headers["etag"]})
    assert (second.status_code, second.headers["etag"] != first.headers["etag"]) == (200, True)


@pytest.mark.parametrize("path", [SEARCH, "/api/sailings/HAR-KEL-20260701-0630", "/api/fares", "/api/nothing"])
def test_head_has_the_headers_of_get(path: str):
    at = client()
    get, head = at.get(path), at.head(path)
    assert head.status_code == get.status_code
    assert dict(head.headers) == dict(get.headers)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/sailings", "GET, HEAD"),
        ("/api/sailings/x", "GET, HEAD"),
        ("/api/fares", "GET, HEAD"),
        ("/api/bookings", "POST"),
        ("/api/bookings/SK-1001", "DELETE, GET, HEAD"),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "NONSENSE"])
def test_another_method_is_refused_with_those_that_are_allowed(path: str, allowed: str, method: str):
    answer = client().request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
    assert answer.json()["type"] == "/errors#wrong-method"


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("", "application/problem+json"),
        ("*/*", "application/problem+json"),
        ("application/json", "application/problem+json"),
        ("text/html", "application/problem+json"),
        ("text/markdown;q=0, application/json;q=0", "application/problem+json"),
        ("text/markdown;q=0.1, application/json", "application/problem+json"),
        ("text/markdown;q=0.5, */*;q=0.8", "application/problem+json"),
        ("text/x;not=text/markdown", "application/problem+json"),
        ("text/markdown", "text/markdown; charset=utf-8"),
        ("TEXT/Markdown;charset=utf-8 ; q=0.9, application/json;q=0.8", "text/markdown; charset=utf-8"),
        ("text/*, application/json;q=0.2", "text/markdown; charset=utf-8"),
    ],
)
def test_hw1_a_problem_is_json_or_markdown_as_the_client_weighs_them(accept: str, kind: str):
    """HW1: weights and not substrings, and it says that the answer depends on `Accept`."""
    at = client()
    for path in ("/api/nothing", "/api/sailings"):
        answer = at.get(path, headers={"Accept": accept})
        assert (answer.headers["content-type"], answer.headers["vary"]) == (kind, "Accept")
        assert answer.text.startswith("# " if "markdown" in kind else "{")


@pytest.mark.parametrize(
    "path", ["/api", "/api/", "/api/fares/", "/api/bookings/", "/api/../secret", "/api/%2e%2e", "/x"]
)
def test_an_unknown_address_is_not_found_and_redirects_nobody(path: str):
    answer = client().get(path)
    assert (answer.status_code, answer.json()["status"]) in ((404, 404), (405, 405))
    assert "location" not in answer.headers


def test_what_somebody_sent_comes_back_short_and_without_control_characters():
    answer = client().get("/api/sailings", params={"from": "\x1b[31m" + "é" * 5_000})
    detail = answer.json()["detail"]
    assert len(detail) < 400 and detail.isascii() and detail.isprintable()


def test_every_problem_has_its_section_on_the_page_of_errors():
    text = (PAGES / "errors.md").read_text("utf-8")
    sections = {part.split("\n")[0]: part for part in text.split("\n## ")[1:]}
    assert list(sections) == list(api().PROBLEMS)
    assert all(f"Status {status}." in sections[name] for name, (status, _) in api().PROBLEMS.items())


def test_the_api_is_one_file_that_loads_little():
    imports = [
        line for line in (FOLDER / "api.py").read_text("utf-8").splitlines() if line.startswith("from starlette")
    ]
    assert len(imports) == 5
    assert "prosa" not in (FOLDER / "api.py").read_text("utf-8")
