"""A closed site: who has the token is shown everything, anybody else nothing."""

from __future__ import annotations

import re

import pytest

from prosa.web import endpoints
from prosa.web.routes import API, MCP, OUTSIDE, ROUTES, Route
from tests.web.asking import Served
from tests.web.conftest import Serve

TOKEN = "a-long-token-of-the-harbour"
FILES = {
    "index.md": "# Zanzibar\n",
    "healthz-notes.md": "# Zanzibar\n",
    "robots.txt.md": "# Zanzibar\n",
    "mdh-sign.md": "# Zanzibar\n",
    "map.png": b"zanzibar",
    "sub/a.md": "# Zanzibar\n",
}
URLS = (
    "/",
    "/index.md",
    "/healthz-notes",
    "/healthz-notes.json",
    "/robots.txt.md",
    "/map.png",
    "/sub/",
    "/sub",
    "/nothing",
    "/llms.txt",
    "/mdh/nodes.json",
    "/mdh/actions.json",
    "/mdh/graph",
    "/mdh/graph.json",
    "/mdh/search?q=zanzibar",
    "/sitemap.xml",
    "/mdh/run/x",
    "/?raw=1",
    "/mdh/schema/x",
    "/mdh/assets",
    "/mdh/sign-inx",
)


@pytest.fixture
def closed(look: Serve) -> Served:
    return look(FILES, token=TOKEN, closed=True)


def test_x23_nobody_sees_anything_without_the_token(closed: Served) -> None:
    """X23. 401 with a challenge, the same for what is there and what is not; a browser is sent to the form."""
    for url in URLS:
        for accept in ("text/markdown", "application/json"):
            said = closed.get(url, accept)
            assert (said.status, said["www-authenticate"]) == (401, 'Bearer realm="prosa"'), url
            assert "anzibar" not in said.text
            assert said["cache-control"] == "no-store"
        page = closed.get(url, "text/html")
        assert (page.status, page["location"], page["cache-control"]) == (303, "/mdh/sign-in", "no-store")
        assert closed.ask(url, method="POST", client=url).status == 401


@pytest.mark.parametrize("path", ["/mdh/sign-inx", "/mdh/sign-in/x", "/mdh/sign-outx", "/mdh/sign-out/"])
@pytest.mark.parametrize("accept", ["text/html", "application/json", "text/markdown"])
def test_h3_what_begins_like_signing_in_is_as_any_other_name(look: Serve, path: str, accept: str) -> None:
    """H3. Nothing is there, in the same words as below `/mdh/` everywhere else."""
    served = look(FILES)
    said, other = served.get(path, accept), served.get("/mdh/other", accept)
    assert (said.status, said.kind) == (404, other.kind)
    assert said.text.replace(path, "/mdh/other") == other.text


@pytest.mark.parametrize(
    "headers",
    [
        [("authorization", f"Bearer {TOKEN}x")],
        [("authorization", f"Bearer {TOKEN[:-1]}")],
        [("authorization", "Bearer ")],
        [("authorization", "Bearer")],
        [("authorization", TOKEN)],
        [("authorization", f"Basic {TOKEN}")],
        [("authorization", f"Bearer {TOKEN}, Bearer {TOKEN}")],
        [("authorization", "Bearer \xe9\xff")],
        [("cookie", f"prosa-session={TOKEN}")],
        [("cookie", "prosa-session=a.99999999999.b")],
        [("cookie", "prosa-session=..")],
        [("cookie", "prosa-session=")],
        [("cookie", "prosa-session=\xe9.\xb2.\xff")],
        [("x-token", TOKEN)],
    ],
)
def test_x23_what_is_not_the_token(closed: Served, headers: list[tuple[str, str]]) -> None:
    """X23."""
    assert closed.get("/", headers=headers).status == 401


@pytest.mark.parametrize("query", ["token", "access_token", "key", "authorization"])
def test_x23_a_token_in_a_url_is_not_looked_at(closed: Served, query: str) -> None:
    """X23. It would stand in logs and histories."""
    assert closed.get(f"/?{query}={TOKEN}").status == 401


@pytest.mark.parametrize("how", ["bearer", "BEARER", "cookie"])
def test_x23_h18_who_has_the_token_is_shown_everything_and_no_cache_shares_it(closed: Served, how: str) -> None:
    """X23, H18."""
    cookie = closed.app.web.sessions.cookie().partition(";")[0]
    headers = [("cookie", f"other=1; {cookie}")] if how == "cookie" else [("authorization", f"{how} {TOKEN}")]
    for url in URLS[:16]:
        for accept in ("text/markdown", "application/json", "text/html"):
            said = closed.get(url, accept, headers=headers)
            assert said.status in (200, 308, 404), url
            assert said["cache-control"] in ("private, no-cache", "no-store"), url
    assert closed.get("/").status == 401  # what was kept for one is not shown to another


def test_x23_the_cookie_is_for_this_site_alone(closed: Served) -> None:
    """X23. No script reads it, no other site sends it, and it does not tell the token."""
    made = closed.app.web.sessions.cookie("/docs")
    assert re.search(r"; Path=/docs; HttpOnly; SameSite=Strict; Max-Age=\d+$", made)
    assert TOKEN not in made
    value = made.partition(";")[0]
    tampered = re.sub(r"\.(\d+)\.", lambda match: f".{int(match[1]) + 1}.", value)
    assert closed.get("/", headers=[("cookie", value)]).status == 200
    assert closed.get("/", headers=[("cookie", tampered)]).status == 401


def test_x23_what_a_closed_site_shows_to_everybody(closed: Served) -> None:
    """X23. Whether it lives, and that robots have nothing to look for."""
    assert closed.get("/healthz").json["status"] == "ok"
    assert closed.get("/robots.txt").text == "User-agent: *\nDisallow: /\n"


@pytest.mark.parametrize("route", [*ROUTES, API, MCP, OUTSIDE], ids=lambda route: route.url or "outside")
def test_x23_a_closed_site_asks_for_the_token_wherever_the_table_does_not_say_open(
    closed: Served, route: Route
) -> None:
    """X23. Every row of the table, and what is below it."""
    for method in ("GET", "POST"):
        status = closed.ask(route.url.replace("*", "x") or "x", "application/json", method=method).status
        assert (status == 401) == (route.who == "guarded"), (method, status)


def test_x23_only_these_urls_are_open() -> None:
    """X23. What a closed site shows is nobody's accident."""
    shown = {each.url for each in (*ROUTES, API, MCP, OUTSIDE) if each.who == "open"}
    assert shown == {"/healthz", "/robots.txt", "/mdh/assets/*", "/mdh/sign-in"}


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.url)
def test_h17_a_route_says_which_methods_it_takes(closed: Served, route: Route) -> None:
    """H17. What is refused with 405 is what the row does not name, and the answer names what it does."""
    signed = [("authorization", f"Bearer {TOKEN}")]
    said = closed.ask(route.url.replace("*", "x"), "application/json", method="DELETE", headers=signed)
    if route.handler in (endpoints.program, endpoints.script):
        assert said.status == 403  # nothing runs on this site
    elif "DELETE" in route.methods:
        assert said.status == 404
    else:
        assert (said.status, said["allow"]) == (405, ", ".join(route.methods))


def test_x23_without_a_token_nobody_can_sign_in(serve: Serve) -> None:
    """X23."""
    site = serve(FILES, token="", closed=True)
    for value in ("Bearer ", "Bearer x", "bearer"):
        assert site.get("/", headers=[("authorization", value)]).status == 401


def test_x23_a_page_for_one_who_signed_in_is_not_sent_to_others(serve: Serve) -> None:
    """X23. On an open site, whose pages differ for those who may run something."""
    site = serve({"a.md": "# A\n"}, token=TOKEN)
    signed = [("authorization", f"Bearer {TOKEN}")]
    kept = site.get("/a", "text/html", headers=signed)
    assert {key.signed_in for key in site.app._nodes._kept} == {True}
    assert kept["cache-control"] == "private, no-cache"
    others = site.get("/a", "text/html")
    assert ("Sign out" in kept.text, "Sign out" in others.text) == (True, False)
    assert others["cache-control"] == "public, no-cache"
    assert {key.signed_in for key in site.app._nodes._kept} == {True, False}
