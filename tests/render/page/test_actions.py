"""Actions as forms: the fields of the contract, a request to this site only, nothing changed by accident."""

from __future__ import annotations

import shlex
from typing import Any

from prosa.render.page.actions import MAX_ACTIONS
from prosa.render.page.model import Frame
from prosa.site.request import build_request
from tests.render.page.elements import Element, Tree
from tests.render.page.sample import seen
from tests.site.actions import BOOK, SAILINGS, at

SITE = Frame("Ferries", origin="https://ferries.example", prefix="/docs")


def _page(*actions: dict[str, Any], frame: Frame = SITE) -> Tree:
    return seen("text", "mdh", actions=actions, frame=frame)


def _fields(page: Tree) -> dict[str, Element]:
    return {each["name"]: each for each in page.elements if each.get("data-place") and each.get("type") != "hidden"}


def test_reading_works_without_a_script():
    page = _page(SAILINGS)
    form = next(each for each in page.all("form") if "section" in each.inside)
    assert (form["method"], form["action"]) == ("get", "/api/sailings")
    assert page.one("div", class_="call").get("hidden") == ""
    assert "hidden" not in page.one("div", class_="call").attributes


def test_fields_are_those_of_the_contract():
    fields = _fields(_page(SAILINGS))
    assert list(fields) == ["harbour", "day", "deck", "seats", "cursor", "page_size"]
    assert "required" in fields["harbour"].attributes
    assert "required" not in fields["day"].attributes
    assert (fields["day"]["placeholder"], fields["day"]["type"]) == ("YYYY-MM-DD", "text")
    assert fields["deck"].tag == "select"
    assert "multiple" in fields["deck"].attributes
    assert (fields["seats"]["type"], fields["seats"]["min"], fields["seats"]["value"]) == ("number", "1", "1")


def test_a_boolean_is_a_box_unless_it_is_true_by_itself():
    described = {"open": {"type": "boolean"}, "warm": {"type": "boolean", "default": True}}
    page = _page(at("/api/x", query={"optional": ["open", "warm"], "properties": described}))
    fields = _fields(page)
    assert fields["open"]["type"] == "checkbox"
    assert fields["warm"].tag == "select"
    assert [each["value"] for each in page.all("option", selected="")] == ["true"]


def test_a_change_is_never_a_form_that_works_by_accident():
    page = _page(BOOK)
    form = next(each for each in page.all("form") if "section" in each.inside)
    assert "action" not in form.attributes
    assert "hidden" in page.one("div", class_="call").attributes
    assert "needs JavaScript" in page.one("noscript").text
    fields = _fields(page)
    assert [(name, each["data-place"]) for name, each in fields.items()] == [
        ("sailing", "path"),
        ("name", "body"),
        ("seats", "body"),
    ]
    token = next(each for each in page.all("input", type="password"))
    assert "name" not in token.attributes


def test_the_lines_for_a_shell_are_the_request():
    page = _page(BOOK)
    call, curl = (shlex.split(line) for line in page.all("code")[-1].text.split("\n\n"))
    assert call[:4] == ["prosa", "call", "https://ferries.example/docs/doc", "sailings.book"]
    assert call[4:] == ["sailing=SAILING", "--input", '{"body": {"name": "…", "seats": 1}}', "--token-env", "TOKEN"]
    assert curl[:4] == ["curl", "-X", "POST", "https://ferries.example/api/sailings/{sailing}/bookings"]
    assert "Content-Type: application/json" in curl
    assert "Authorization: Bearer TOKEN" in curl


def test_the_address_is_that_of_the_request():
    for url in ("/api/é/x y"[:6], "api/x", "/api/a?b=1&c=2", "../up"):
        page = _page(at(url))
        made = build_request(at(url), site_root="https://ferries.example/docs/")
        assert f"https://ferries.example{page.one('div', class_='call')['data-where']}" == made.url
        hidden = [(each["name"], each["value"]) for each in page.all("input", type="hidden")]
        assert hidden == list(made.query)


def test_a_name_in_the_path_is_filled_in_by_the_script():
    page = _page(at("/api/{harbour}/x"))
    assert page.one("div", class_="call")["data-where"] == "/api/{harbour}/x"
    assert page.one("input", name="harbour")["data-place"] == "path"
    assert "hidden" in page.one("div", class_="call").attributes


def test_an_action_of_another_site_is_not_called():
    page = _page(at("https://evil.example/x"), at("//evil.example/x"))
    assert len(page.all("p", class_="problem")) == 2
    assert "another origin" in page.all("p", class_="problem")[0].text
    assert page.all("div", class_="call") == []
    assert not [each for each in page.elements if "evil" in each.get("href") + each.get("action")]


def test_a_broken_contract_says_what_is_wrong():
    page = _page(
        {"id": "x", "method": "FETCH", "url": "/a"}, {"title": "Nothing"}, {"id": 7, "method": "get", "url": "/b"}
    )
    problems = [each.text for each in page.all("p", class_="problem")]
    assert "must be one of" in problems[0]
    assert "is missing" in problems[1]
    assert len(problems) == 2


def test_a_body_that_is_not_flat_is_written_as_json():
    schema = {"properties": {"who": {"type": "object"}}, "description": "A booking"}
    page = _page(
        {**BOOK, "body_schema": schema, "examples": [{"request": {"path": {"sailing": "7"}, "body": {"who": {}}}}]}
    )
    area = page.one("textarea")
    assert area.text.strip() == '{\n  "who": {}\n}'
    assert area["data-typed"] == "json"
    assert page.one("input", name="sailing")["value"] == "7"


def test_an_example_fills_the_fields():
    page = _page({**SAILINGS, "examples": [{"query": {"harbour": "Skagen", "seats": 3, "deck": ["upper"]}}]})
    fields = _fields(page)
    assert (fields["harbour"]["value"], fields["seats"]["value"]) == ("Skagen", "3")
    assert [each["value"] for each in page.all("option", selected="")] == ["upper"]


def test_a_choice_in_a_body_keeps_its_type():
    schema = {"properties": {"seats": {"enum": [1, 2, "many", True]}}}
    page = _page({**BOOK, "url": "/api/x", "body_schema": schema})
    assert [each["value"] for each in page.all("option")] == ["", "1", "2", '"many"', "true"]
    assert page.one("select")["data-typed"] == "json"


def test_credentials_are_asked_for_where_they_are_wanted():
    assert _page(SAILINGS).all("input", type="password") == []
    key = _page({**SAILINGS, "auth": {"type": "api_key", "in": "query", "name": "key"}})
    call = key.one("div", class_="call")
    assert (call["data-auth"], call["data-auth-place"], call["data-auth-name"]) == ("api_key", "query", "key")
    assert len(key.all("input", type="password")) == 1
    cookie = _page({**SAILINGS, "auth": {"type": "cookie"}})
    assert cookie.all("input", type="password") == []
    assert "Ask at the harbour office" in _page(BOOK).one("main").text


def test_actions_are_bounded():
    assert len(_page(*[at("/x")] * (MAX_ACTIONS + 20)).all("section", class_="action")) == MAX_ACTIONS


PROGRAM = "---\nname: tides\ninput: {properties: {day: {type: string}}}\n---\nTides of {{ .day }}.\n"


def _run(url: str = "/docs/mdh/run/doc") -> dict[str, Any]:
    return {
        "id": "tides.run",
        "method": "POST",
        "url": url,
        "auth": {"type": "bearer"},
        "body_schema": {"type": "object"},
    }


def test_the_program_of_the_page_runs_in_the_session_of_its_reader():
    frame = Frame("F", prefix="/docs", can_run=True, signed_in=True, csrf="mine")
    page = seen(PROGRAM, "markdownlang", actions=(_run(),), frame=frame)
    assert page.one("div", class_="call")["data-csrf"] == "mine"
    assert page.all("input", type="password") == []
    out = seen(PROGRAM, "markdownlang", actions=(_run(),), frame=Frame("F", prefix="/docs", can_run=True))
    assert "data-csrf" not in out.one("div", class_="call").attributes
    assert len(out.all("input", type="password")) == 1


def test_no_other_action_gets_the_session():
    frame = Frame("F", prefix="/docs", can_run=True, signed_in=True, csrf="mine")
    elsewhere = seen(PROGRAM, "markdownlang", actions=(_run("/docs/mdh/run/other"), _run("/x")), frame=frame)
    foreign = seen("text", "mdh", actions=(_run(),), frame=frame)
    for page in (elsewhere, foreign):
        assert not [each for each in page.elements if "data-csrf" in each.attributes]
