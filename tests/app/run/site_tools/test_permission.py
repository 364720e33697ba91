"""A permission is for the action as the user's own pages declare it: no other page can widen it (X7, HA19)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import prosa
from prosa.app.options import Options
from prosa.app.run.load import load_program
from prosa.settings import Settings
from tests.app.run.site_tools.runs import Ran, calls, loaded, run, text_of, visit
from tests.app.run.site_tools.site import Site
from tests.app.run.site_tools.test_command import ran as command

TOKEN = "t0ken"
ID = ("berths.book",)
SAME = {"id": "berths.book", "method": "POST", "url": "/api/berths"}
BEARER = {"auth": {"type": "bearer"}}
BOOK = calls(("mdh__berths_book", {}))
BODY = calls(("mdh__berths_book", {"body": {"name": "Ada"}}))
OTHERWISE = "declares it otherwise than the page that the user named"


def put(site: Site, path: str, *actions: dict[str, Any]) -> None:
    """A page of a user of the site."""
    page = {"id": path, "type": "page", "title": "A guest", "actions": list(actions), "body": "Text."}
    site.put(path, page, "application/json")


def at_guest(site: Site, tmp_path: Path, *replies: Any, sites: tuple[str, ...] = (), **more: Any) -> Ran:
    """A run that begins at the harbour and goes to `/guest`, with a token at hand."""
    rights = {"variables": {site.url: "HARBOUR"}, "environ": {"HARBOUR": TOKEN}, **more}
    return run(loaded(tmp_path, *(sites or (site.url,))), visit("/guest"), *(replies or (BOOK,)), **rights)


def changes(site: Site) -> list[str]:
    """The requests that ask for a change."""
    return [f"{each.method} {each.path}" for each in site.asked if each.method != "GET"]


# ---- by id ----
@pytest.mark.parametrize(
    "otherwise",
    [
        {"method": "DELETE", "url": "/account", **BEARER},
        {"url": "/account"},
        {"url": "/api/{name}"},
        {"url": "/api/berths?all=yes"},
        {"method": "PUT"},
        BEARER,
        {"auth": {"type": "api_key", "in": "query"}},
    ],
)
def test_x7_a_page_that_declares_an_id_otherwise_has_no_permission(
    site: Site, tmp_path: Path, otherwise: dict[str, Any]
):
    put(site, "/guest", SAME | otherwise)
    name = {"name": "Ada"} if "{" in otherwise.get("url", "") else {}
    ran = at_guest(site, tmp_path, calls(("mdh__berths_book", name)), actions=ID)
    assert changes(site) == [] and TOKEN not in str([each.headers for each in site.asked])
    assert OTHERWISE in ran.results[1] and "nothing was sent" in ran.results[1]
    assert "--allow-action" not in ran.results[1]


def test_x7_an_auth_declared_otherwise_has_no_permission(site: Site, tmp_path: Path):
    """HA19. The kind of credential, and where it goes, are part of what was permitted."""
    put(site, "/", SAME | {"auth": {"type": "api_key", "in": "header", "name": "X-Key"}})
    put(site, "/guest", SAME | {"auth": {"type": "api_key", "in": "query", "name": "X-Key"}})
    assert OTHERWISE in at_guest(site, tmp_path, actions=ID).results[1] and changes(site) == []


def test_x7_an_id_has_no_permission_on_another_origin(site: Site, tmp_path: Path):
    """HA19. Both sites were named; the id was declared on one of them."""
    put(site, "/guest", SAME)
    there = f"{site.other}/guest"
    ran = run(loaded(tmp_path, site.url, f"{site.other}/ferries"), visit(there), BOOK, actions=ID)
    assert OTHERWISE in ran.results[1] and changes(site) == []


def test_ha19a_a_page_that_declares_an_id_alike_has_the_permission(site: Site, tmp_path: Path):
    put(site, "/guest", {**SAME, "title": "Another title", "content_type": "application/json"})
    ran = at_guest(site, tmp_path, BODY, actions=ID)
    assert ran.results[1] == '{"booked":{"name":"Ada"}}' and changes(site) == ["POST /api/berths"]


def test_x7_an_action_declared_otherwise_does_not_hide_the_one_that_was_named(site: Site, tmp_path: Path):
    """They differ in the credential alone, and both are offered; permission goes by what each declares (HA19)."""
    put(site, "/guest", SAME | BEARER)
    pages = (f"{site.url}/ferries", f"{site.url}/")
    ran = at_guest(site, tmp_path, BOOK, sites=pages, actions=ID)
    first, second = (name for name in ran.names(1) if "berths_book" in name)
    assert OTHERWISE in ran.results[1] and changes(site) == []
    again = at_guest(site, tmp_path, calls((second, {"body": {"name": "Ada"}})), sites=pages, actions=ID)
    assert first == "mdh__berths_book" and again.results[1] == '{"booked":{"name":"Ada"}}'


def test_x7_an_id_is_held_as_it_was_when_the_run_began(site: Site, tmp_path: Path):
    """HA19. Also the page that the user named may say something else later."""
    put(site, "/guest")
    pages = iter([SAME, SAME | {"url": "/account"}])

    def home(_: Any) -> Any:
        page = {"id": "home", "type": "page", "title": "H", "actions": [next(pages)], "body": "Text."}
        return 200, "application/json", page, {}

    site.pages["/"] = home
    ran = at_guest(site, tmp_path, visit("/"), BOOK, actions=ID)
    assert OTHERWISE in ran.results[2] and changes(site) == []


def test_x7_the_pages_of_an_import_give_an_id_no_permission(site: Site, tmp_path: Path):
    """The user named the program, not what it imports (HA19)."""
    put(site, "/guest", {**SAME, "content_type": "application/json"})
    (tmp_path / "other.md").write_text(text_of(f"{site.url}/guest", name="other"), encoding="utf-8")
    path = tmp_path / "ask.md"
    path.write_text(text_of(f"{site.url}/ferries", more="imports: [./other.md]\n"), encoding="utf-8")
    program = load_program(path, Options(), Settings())
    inner = replace(program.imports[0], python=False)
    program = replace(program, python=False, imports=(inner,))
    replies = (
        {"program": "ask", **calls(("other", {}))},
        {"program": "other", **BODY},
        {"program": "other", "content": {}},
    )
    ran = run(program, *replies, actions=ID, allow_private=True)
    assert ran.error is None and changes(site) == []
    assert "no page that the user named declares it" in ran.everything
    run(program, *replies, actions=("POST /api/berths",), allow_private=True)
    assert changes(site) == ["POST /api/berths"]


def test_x7_an_id_that_no_named_page_declares_permits_nothing(site: Site, tmp_path: Path):
    put(site, "/guest", {"id": "a.b", "method": "DELETE", "url": "/account"})
    ran = at_guest(site, tmp_path, calls(("mdh__a_b", {})), actions=("a.b",))
    assert "no page that the user named declares it, so its id alone permits nothing" in ran.results[1]
    assert f"--allow-action '{site.url} DELETE /account', or all with --allow-actions" in ran.results[1]
    assert changes(site) == []


def test_x7_an_id_with_white_space_is_permitted_by_its_method_and_url(site: Site, tmp_path: Path):
    put(site, "/guest", {"id": "a b", "method": "DELETE", "url": "/account"})
    sites = (f"{site.url}/guest",)
    told = at_guest(site, tmp_path, calls(("mdh__a_b", {})), sites=sites).results[1]
    assert f"--allow-action '{site.url} DELETE /account', or" in told
    put(site, "/guest", {"id": "a b", "method": "DELETE", "url": "account"})
    told = at_guest(site, tmp_path, calls(("mdh__a_b", {})), sites=sites).results[1]
    assert "--allow-action " not in told and "with --allow-actions" in told


def test_x7_a_page_cannot_make_the_way_to_permission_a_command(site: Site, tmp_path: Path):
    """HA19. What a user may copy is quoted for a shell."""
    put(site, "/guest", {"id": "a", "method": "POST", "url": "/x';reboot;'"})
    told = at_guest(site, tmp_path, calls(("mdh__a", {}))).results[1]
    assert f"""--allow-action '{site.url} POST /x'"'"';reboot;'"'"'', or""" in told


# ---- by method and URL ----
@pytest.mark.parametrize(
    ("named", "sent"),
    [
        ("DELETE /account/{name}", True),
        ("delete /account/{name}", True),
        ("{site} DELETE /account/{{name}}", True),
        ("{other} DELETE /account/{{name}}", False),
        ("POST /account/{name}", False),
        ("DELETE /account/Ada", False),
        ("DELETE /account", False),
    ],
)
def test_x7_a_permission_by_method_and_url_is_for_just_these(site: Site, tmp_path: Path, named: str, sent: bool):
    """HA19. The template is compared as the page declares it."""
    put(site, "/guest", {"id": "a.b", "method": "DELETE", "url": "/account/{name}"})
    site.put("/account/Ada", {}, "application/json")
    rule = named.format(site=site.url, other=site.other) if named.startswith("{") else named
    at_guest(site, tmp_path, calls(("mdh__a_b", {"name": "Ada"})), actions=(rule,))
    assert (changes(site) == ["DELETE /account/Ada"]) is sent and (changes(site) == []) is not sent


def test_x7_the_flag_takes_a_method_and_a_url(site: Site, tmp_path: Path):
    """HA19. As it is typed."""
    status, at = command(tmp_path, "--site", site.url, "--allow-action", f"{site.url}/ POST /api/berths")
    assert status == 0 and changes(site) == ["POST /api/berths"], at.err


WRONG = [
    ("", "is empty"),
    ("   ", "is empty"),
    ("/api/berths", "a method before the path"),
    ("DELETE", "a path after the method"),
    ("https://a.example", "the origin alone"),
    ("book a berth", "an id without white space"),
    ("STEAL /x", "STEAL"),
    ("POST api/berths", "begins with `/`"),
    ("POST https://a.example/x", "begins with `/`"),
    ("POST /a#b", "fragment"),
    ("POST /a{", "braces"),
    ("HEAD /x", "with a method of GET, POST"),
    ("a.example POST /x", "must be a URL"),
    ("https://a.example/x POST /x", "an origin without a path"),
    ("https://u:p@a.example POST /x", "a password"),
    ("x" * 3_000, "at most"),
]


@pytest.mark.parametrize(("text", "why"), WRONG)
def test_x7_what_names_no_action_is_refused_at_the_start(text: str, why: str):
    with pytest.raises(ValueError, match="names no action") as caught:
        prosa.SiteRights(actions=(text,))
    assert why in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize(("text", "why"), WRONG[3:6])
def test_ha19_a_flag_that_names_no_action_is_wrong_use(site: Site, tmp_path: Path, text: str, why: str):
    status, at = command(tmp_path, "--site", site.url, "--allow-action", text)
    assert status == 2 and why in " ".join(at.err.split()) and site.asked == []


# ---- a GET that is called like a change ----
GET = {"id": "berths.book", "method": "GET", "url": "/api/berths/book"}


@pytest.mark.parametrize(
    ("rights", "sent"),
    [
        ({}, False),
        ({"allow_actions": True}, True),
        ({"actions": ("GET /api/berths/book",)}, True),
        ({"actions": ("GET /api/other",)}, False),
    ],
)
def test_ha19_a_get_whose_name_says_that_it_changes_something_needs_a_permission(
    site: Site, tmp_path: Path, rights: dict[str, Any], sent: bool
):
    put(site, "/guest", GET)
    ran = at_guest(site, tmp_path, **rights)
    assert [each.path for each in site.asked].count("/api/berths/book") == int(sent)
    assert ("nothing was sent" in ran.results[1]) is not sent
    assert "It changes something there." in ran.tool(1, "mdh__berths_book").description
    if not sent:
        assert "--allow-action" in ran.results[1] and "GET /api/berths/book" in ran.results[1]


# ---- on a terminal ----
def test_ha19a_an_action_declared_otherwise_is_asked_about_as_any_other(site: Site, tmp_path: Path):
    put(site, "/guest", SAME | {"method": "DELETE", "url": "/account"})
    shown: list[str] = []

    async def confirm(text: str) -> bool:
        shown.append(text)
        return False

    ran = at_guest(site, tmp_path, actions=ID, confirm=confirm)
    assert len(shown) == 1 and shown[0].startswith(f"DELETE {site.url}/account\n")
    assert OTHERWISE in ran.results[1] and changes(site) == []


def test_ha19a_what_was_shown_is_what_is_sent(site: Site, tmp_path: Path):
    """X7. Also where the page changes, and the run leaves it, while a person thinks. Only the credential is hidden."""
    action = {"id": "a", "method": "POST", "url": "/api/{place}", "query": {"optional": ["day"]}, **BEARER}
    body = {"name": "Ada\u202e", "list": [1, {"x": "line\nline"}]}
    put(site, "/guest", {**action, "body_schema": {}})
    site.put("/api/Kiel & more", {}, "application/json")
    shown: list[str] = []

    async def confirm(text: str) -> bool:
        shown.append(text)
        put(site, "/guest", {**action, "method": "DELETE", "url": "/account/{place}"})
        return True

    asked = ("mdh__a", {"place": "Kiel & more", "day": "a&b", "body": body})
    at_guest(site, tmp_path, calls(asked, ("visit", {"to": "/guest"})), confirm=confirm)
    (sent,) = (each for each in site.asked if each.method != "GET")
    head, _, text = shown[0].partition("\n\n")
    first, *lines = head.split("\n")
    assert first == f"POST {site.url}/api/Kiel%20%26%20more?day=a%26b"
    assert (sent.method, sent.path, sent.query) == ("POST", "/api/Kiel%20%26%20more", {"day": ["a&b"]})
    headers = dict(line.split(": ", 1) for line in lines)
    assert headers.pop("Authorization") == "Bearer ***" and sent.headers["authorization"] == f"Bearer {TOKEN}"
    assert headers == {name: sent.headers[name.lower()] for name in headers} and "Idempotency-Key" in headers
    assert json.loads(sent.body) == body
    assert json.loads(text) == body and "\\u202e" in text and "\u202e" not in text


@pytest.mark.parametrize(("rights", "followed"), [({"actions": ID}, False), ({"allow_actions": True}, True)])
def test_ha19a_a_change_is_not_carried_on_to_another_url(
    site: Site, tmp_path: Path, rights: dict[str, Any], followed: bool
):
    """X7. A redirect that repeats the change elsewhere asks for what was neither permitted nor shown."""
    site.put("/api/berths", "", status=307, Location="/account")
    site.put("/account", {}, "application/json")
    ran = run(loaded(tmp_path, site.url), BODY, **rights)
    assert (changes(site) == ["POST /api/berths", "POST /account"]) is followed
    assert followed or f"carries a POST on to {site.url}/account" in ran.results[0]
    assert followed or changes(site) == ["POST /api/berths"]


def test_ha19a_a_change_that_leads_to_a_page_is_followed_there(site: Site, tmp_path: Path):
    site.put("/api/berths", "", status=303, Location="/chart")
    site.put("/chart", {"at": 1}, "application/json")
    ran = run(loaded(tmp_path, site.url), BODY, actions=ID)
    assert ran.results[0] == '{"at":1}' and [each.method for each in site.of("/chart")] == ["GET"]
