"""Actions as forms: the request that is shown is the one that is sent, and the one that `prosa call` would send."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import warm
from tests.browser.browsing import Browsing
from tests.house.examples import surroundings

FIND, ALL, ADD, WRITE = range(4)
"""The actions of the page, in its order."""

ODD = "å & b+c/d?e=f #g %20 '\"<x>"


def form(page: Page, number: int) -> Locator:
    """An action."""
    return page.locator(".action").nth(number)


def fill(action: Locator, values: dict[str, Any]) -> None:
    """Enters values by the names of their fields; those of bodies, queries and paths alike."""
    for name, value in values.items():
        field = action.locator(f"[data-place][name='{name}']")
        if isinstance(value, bool):
            field.set_checked(value)
        elif isinstance(value, list) or field.evaluate("(each) => each.tagName") == "SELECT":
            field.select_option(value if isinstance(value, list) else [json.dumps(value)])
        else:
            field.fill(str(value))


def preview(action: Locator) -> list[str]:
    """The request as the page shows it: the line, and the body where there is one."""
    return action.locator("[data-preview]").inner_text().split("\n", 1)


def dry_run(url: str, folder: Path, *words: str) -> list[str]:
    """The request as the command shows it, without the address of the site and without headers."""
    command = [sys.executable, "-m", "prosa", "call", f"{url}/echo", *words, "--dry-run"]
    done = warm.run(command, capture_output=True, text=True, check=True, env=surroundings(folder))
    head, _, body = done.stdout.rstrip("\n").partition("\n\n")
    line = head.split("\n")[0].replace(url, "")
    return [line, json.dumps(json.loads(body), ensure_ascii=False, separators=(",", ":"))] if body else [line]


@pytest.mark.parametrize(
    ("number", "name", "values"),
    [
        (FIND, "words.find", {"shelf": ODD, "word": ODD, "kind": ["noun", "a & b"], "cursor": "~-._*()!"}),
        (ALL, "words.all", {"word": "fjäll+ö"}),
        (ADD, "words.add", {"word": ODD, "count": 3, "loud": True, "kind": "verb"}),
    ],
)
def test_h14_the_page_shows_the_request_that_the_command_sends(
    number: int, name: str, values: dict[str, Any], browse: Browsing, echoing: str, tmp_path: Path
):
    """H14, HA11."""
    action = form(browse(f"{echoing}/echo"), number)
    fill(action, values)
    pairs = [
        f"{key}={each}" for key, value in values.items() for each in (value if isinstance(value, list) else [value])
    ]
    words = [pair.replace("=True", "=true") for pair in pairs]
    assert preview(action) == dry_run(echoing, tmp_path, name, *words)


def test_a_get_runs_as_it_was_shown(browse: Browsing, echoing: str):
    """H14."""
    action = form(browse(f"{echoing}/echo"), FIND)
    fill(action, {"shelf": "a b/c", "word": ODD})
    (shown,) = preview(action)
    action.get_by_role("button", name="Send").click()
    expect(action.locator(".status")).to_have_text("200 OK")
    told = json.loads(action.locator(".answer pre").inner_text())
    assert f"{told['method']} {told['url']}" == shown
    assert told["headers"] == {"accept": "application/json"}
    assert action.locator(".answer").get_attribute("aria-live") == "polite"


def test_a_path_is_not_left(browse: Browsing, echoing: str):
    """A part of the address that is missing, or leads elsewhere, is said and not sent."""
    browsing = browse
    page = browsing(f"{echoing}/echo")
    action = form(page, FIND)
    fill(action, {"shelf": "..", "word": "x"})
    assert "shelf must not be .." in preview(action)[0]
    action.get_by_role("button", name="Send").click()
    expect(action.locator(".problem")).to_contain_text("leads elsewhere")
    assert not [each for each in browsing.requests if "/api/" in each.url]


def test_a_change_asks_twice_and_carries_key_and_token(browse: Browsing, echoing: str):
    """H12, H19. The token is never shown."""
    page = browse(f"{echoing}/echo")
    action = form(page, ADD)
    fill(action, {"word": "skerry", "count": 2})
    action.locator("[data-token]").fill("s3cret")
    shown = preview(action)
    send = action.locator("[type=submit]")
    send.click()
    expect(send).to_have_text("Yes, send this POST")
    assert not [each for each in browse.requests if "/api/" in each.url]
    action.get_by_role("button", name="Cancel").click()
    expect(send).to_have_text("Send POST")
    send.click()
    send.click()
    expect(action.locator(".status")).to_have_text("201 Created")
    told = json.loads(action.locator(".answer pre").inner_text())
    assert (
        [f"{told['method']} {told['url']}", told["body"]] == shown == ["POST /api/words", '{"word":"skerry","count":2}']
    )
    assert told["headers"]["authorization"] == "Bearer s3cret"
    assert told["headers"]["content-type"] == "application/json"
    first = told["headers"]["idempotency-key"]
    assert len(first) == 36
    assert "s3cret" not in page.locator("main").inner_text().replace(told["headers"]["authorization"], "")
    expect(send).to_have_text("Send POST")
    send.click()
    send.click()
    expect(action.locator(".answer pre")).not_to_contain_text(first)


def test_an_edit_takes_a_yes_back(browse: Browsing, echoing: str):
    action = form(browse(f"{echoing}/echo"), ADD)
    fill(action, {"word": "skerry", "count": 2})
    send = action.locator("[type=submit]")
    send.click()
    expect(send).to_have_text("Yes, send this POST")
    fill(action, {"word": "other"})
    expect(send).to_have_text("Send POST")


def test_a_body_of_many_levels_is_json(browse: Browsing, echoing: str):
    action = form(browse(f"{echoing}/echo"), WRITE)
    fill(action, {"shelf": "a"})
    action.locator("textarea").fill("{oops")
    assert "JSON" in preview(action)[0]
    action.locator("textarea").fill('{"deep": {"a": 1}}')
    action.locator("[data-token]").fill("k3y")
    shown = preview(action)
    action.locator("[type=submit]").click()
    action.locator("[type=submit]").click()
    told = json.loads(action.locator(".answer pre").inner_text())
    assert [f"{told['method']} {told['url']}", told["body"]] == shown == ["PUT /api/words/a", '{"deep":{"a":1}}']


def test_a_required_field_is_asked_for(browse: Browsing, echoing: str):
    page = browse(f"{echoing}/echo")
    form(page, ALL).get_by_role("button", name="Send").click()
    assert form(page, ALL).locator("[name=word]:invalid").count() == 1
    assert not [each for each in browse.requests if "/api/" in each.url]


def test_a_plain_form_works_without_javascript(browse: Browsing, echoing: str):
    """H1."""
    browse.expected.append("favicon.ico")
    page = browse(f"{echoing}/echo", script=False)
    form(page, ALL).locator("[name=word]").fill("x & y")
    form(page, ALL).get_by_role("button", name="Send").click()
    assert '"url": "/api/words?word=x+%26+y"' in page.locator("body").inner_text()


def test_without_javascript_a_form_asks_for_what_is_required(browse: Browsing, ferries: str):
    """H1. A browser sends what is left empty too, which an API may refuse."""
    browse.expected.append("favicon.ico")
    action = form(browse(f"{ferries}/timetable", script=False), 0)
    assert "Its other fields need JavaScript." in action.inner_text()
    assert not action.locator("[name=cursor]").is_visible()
    action.locator("[name=date]").fill("2026-07-02")
    action.get_by_role("button", name="Send").click()
    told = json.loads(action.page.locator("body").inner_text())
    assert told["query"] == {"from": "HAR", "to": "KEL", "date": "2026-07-02"}
    with_script = form(browse(f"{ferries}/timetable"), 0)
    assert with_script.locator("[name=cursor]").is_enabled()
    assert "other fields" not in with_script.inner_text()


def test_h19_a_seat_is_booked_from_the_page(browse: Browsing, ferries: str):
    """H12, H19. The example's own page, from its example values."""
    browse.expected.append("status of 401")
    page = browse(f"{ferries}/booking")
    action = form(page, 0)
    send = action.locator("[type=submit]")
    send.click()
    send.click()
    expect(action.locator(".status")).to_contain_text("401")
    expect(action.locator(".answer pre")).to_contain_text("/errors#no-token")
    action.locator("[data-token]").fill("skerry-demo")
    send.click()
    send.click()
    expect(action.locator(".status")).to_contain_text("201")
    booking = json.loads(action.locator(".answer pre").inner_text())
    assert (booking["status"], booking["name"]) == ("confirmed", "Ada Quay")


def test_the_lines_for_a_shell_can_be_typed(browse: Browsing, echoing: str):
    """H14."""
    page = browse(f"{echoing}/echo")
    for number, name in enumerate(("words.find", "words.all", "words.add", "words.write")):
        lines = [
            shlex.split(each) for each in (form(page, number).locator(".source code").text_content() or "").splitlines()
        ]
        assert lines[0][:2] == ["prosa", "call"] and lines[0][3] == name
        assert lines[-1][0] == "curl" and lines[-1][3].startswith(echoing)
