"""Interactive ai-scripts: explained where nothing runs, behind a token where they do; what they say is only text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.browsing import Browsing
from tests.browser.looking import HARMLESS, alive
from tests.browser.sites import TOKEN
from tests.depth import DEEP

HEARD = """
() => {
  window.__heard = [];
  for (const each of document.querySelectorAll(".answer")) {
    const hear = (one) => one.addedNodes.forEach((node) => window.__heard.push(node.textContent));
    new MutationObserver((all) => all.forEach(hear)).observe(each, { childList: true });
  }
}
"""
STREAM = {
    "pieces": [
        'event: text\ndata: {"text": "Ten **app"}\n\n',
        ": still running\n\nevent: te",
        'xt\ndata: {"text": "les**."}\n\n',
        'event: done\ndata: {"html": "<p>Ten <strong>apples</strong>.</p>", "seconds": 1.25}\n\n',
    ]
}


_known: dict[str, Any] = {}


def signed_in(page: Page, url: str, *, form: bool = DEEP) -> None:
    """Opens a page and signs in from it. One who has done so has the cookie, unless the ``form`` is to be used."""
    if url in _known and not form:
        page.context.add_cookies(_known[url])
        page.goto(url)
        return
    page.goto(url)
    page.get_by_role("link", name="Sign in").first.click()
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(url)
    _known[url] = page.context.cookies()


def script(page: Page, number: int) -> Locator:
    """A script of the page."""
    return page.locator("form.script").nth(number)


def test_m39_a_site_that_runs_nothing_says_so(browse: Browsing, idle: str):
    """M37, M39, X6."""
    page = browse(f"{idle}/page.mda")
    for name in ("Sum it up", "Ask the fruit"):
        assert page.get_by_role("button", name=name).is_disabled()
    page.get_by_text("Why can this not be run?").first.click()
    assert "--allow-run" in page.locator(".script").first.inner_text()
    assert "secretly" not in page.content()
    assert page.get_by_role("link", name="Sign in").count() == 0


def test_x23_a_reader_signs_in_and_out(browse: Browsing, running: str):
    """X23. A wrong token is refused with words; the right one is in no address, and scripts cannot read the cookie."""
    browse.expected.append("status of 403")
    page = browse(f"{running}/page.mda")
    page.locator(".script").get_by_role("link", name="Sign in").first.click()
    page.get_by_label("Token").fill("wrong-wrong-wrong-wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("not the token")
    assert page.get_by_label("Token").get_attribute("aria-invalid") == "true"
    page.get_by_label("Token").fill(TOKEN)
    page.keyboard.press("Enter")
    page.wait_for_url("**/page.mda")
    assert page.evaluate("document.cookie") == ""
    assert not [each.url for each in browse.requests if TOKEN in each.url]
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in").first.wait_for()


def test_m38_a_button_shows_the_reply(browse: Browsing, running: str):
    """M37, M38. The reply is read out by a live region, and ends as sanitised Markdown."""
    page = browse.window()
    signed_in(page, f"{running}/page.mda")
    page.evaluate(HEARD)
    button = script(page, 0).get_by_role("button", name="Sum it up")
    button.click()
    answer = script(page, 0).locator(".answer")
    expect(answer.locator("strong").first).to_have_text("apples")
    expect(answer.locator(".took")).to_contain_text("Took")
    expect(button).to_be_enabled()
    assert answer.get_by_role("table").count() == 1
    assert (answer.get_attribute("aria-live"), answer.get_attribute("aria-busy")) == ("polite", None)
    heard = page.evaluate("window.__heard")
    assert heard[0] == "…"
    assert any("Ten **apples**." in text for text in heard)
    button.click()
    expect(answer.locator(".took")).to_be_visible()


def test_what_a_model_says_is_inert(browse: Browsing, running: str):
    """X15. A script, a handler and an address that runs, in a reply to a text of the reader."""
    page = browse.window()
    signed_in(page, f"{running}/page.mda")
    box = script(page, 1)
    box.get_by_role("textbox", name="Ask the fruit").fill("<script>window.__pwned=9</script>")
    page.keyboard.press("Enter")
    answer = box.locator(".answer")
    expect(answer.locator(".took")).to_be_visible()
    assert "pears" in answer.inner_text()
    for link in answer.get_by_role("link").all():
        link.click()
    assert alive(page) == HARMLESS


def test_a_text_is_asked_for(browse: Browsing, running: str):
    page = browse.window()
    signed_in(page, f"{running}/page.mda")
    script(page, 1).get_by_role("button", name="Ask the fruit").click()
    assert script(page, 1).locator("input:invalid").count() == 1
    assert not [each for each in browse.requests if "/mdh/scripts/" in each.url]


def test_m36_pieces_are_shown_as_they_come(browse: Browsing, running: str):
    """M36. A stream whose pieces end within a line is put together; each piece is shown before the next one."""
    page = browse.window()
    signed_in(page, f"{running}/page.mda")
    page.evaluate(
        f"""() => {{
        const real = window.fetch;
        window.fetch = async (url, options) => {{
          if (!String(url).includes("/mdh/scripts/")) return real(url, options);
          const pieces = {json.dumps(STREAM["pieces"])};
          const headers = {{ "Content-Type": "text/event-stream; charset=utf-8" }};
          return new Response(new ReadableStream({{
            start(control) {{
              window.__next = () => control.enqueue(new TextEncoder().encode(pieces.shift()));
            }},
          }}), {{ headers }});
        }};
        }}"""
    )
    button = script(page, 0).get_by_role("button", name="Sum it up")
    answer = script(page, 0).locator(".answer")
    button.click()
    for shown in ("Ten **app", "Ten **app", "Ten **apples**."):
        page.evaluate("window.__next()")
        expect(answer).to_have_text(shown)
        assert button.is_disabled() and answer.get_attribute("aria-busy") == "true"
        assert script(page, 0).get_by_role("button", name="Cancel").is_visible()
    page.evaluate("window.__next()")
    expect(answer.locator("strong")).to_have_text("apples")
    expect(answer.locator(".took")).to_have_text("Took 1.3 s")


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (
            200,
            'event: failed\ndata: {"message": "The model did not answer: <img src=x onerror=window.__pwned=1>"}\n\n',
            "did not",
        ),
        (200, 'event: text\ndata: {"text": "Ten"}\n\n', "ended too early"),
        (200, "event: done\ndata: {oops\n\n", "JSON"),
        (429, '{"detail": "Come again in 5 seconds."}', "Come again in 5 seconds."),
        (502, "<h1>Bad gateway</h1>", "502"),
    ],
)
def test_a_failure_is_said_in_words(status: int, body: str, said: str, browse: Browsing, running: str):
    browse.expected.append(f"status of {status}")
    page = browse.window()
    kind = "text/event-stream" if status == 200 else "application/problem+json"
    page.route("**/mdh/scripts/**", lambda route: route.fulfill(status=status, body=body, content_type=kind))
    signed_in(page, f"{running}/page.mda")
    button = script(page, 0).get_by_role("button", name="Sum it up")
    button.click()
    expect(script(page, 0).locator(".answer .problem")).to_contain_text(said)
    expect(button).to_be_enabled()
    assert alive(page) == HARMLESS


def test_a_run_can_be_broken_off(browse: Browsing, running: str):
    page = browse.window()
    page.route("**/mdh/scripts/**", lambda route: None)
    signed_in(page, f"{running}/page.mda")
    script(page, 0).get_by_role("button", name="Sum it up").click()
    script(page, 0).get_by_role("button", name="Cancel").click()
    expect(script(page, 0).locator(".answer")).to_have_text("Cancelled.")


def test_without_javascript_the_reply_is_a_page(browse: Browsing, running: str):
    """M38, H1."""
    page = browse.window(script=False)
    signed_in(page, f"{running}/page.mda", form=True)
    script(page, 0).get_by_role("button", name="Sum it up").click()
    expect(page.get_by_role("main").locator("strong").first).to_have_text("apples")
    page.get_by_role("link", name="A page with scripts").click()
    page.wait_for_url("**/page.mda")


def test_h12_a_program_is_an_action_with_the_token(browse: Browsing, running: str):
    """H12, H19. The page of a program has a form; the reader's token goes with it."""
    page = browse(f"{running}/greet")
    action = page.locator(".action").first
    action.locator("[name=name]").fill("Ada")
    action.locator("[data-token]").fill(TOKEN)
    action.locator("[type=submit]").click()
    action.locator("[type=submit]").click()
    expect(action.locator(".status")).to_contain_text("200")
    assert json.loads(action.locator(".answer pre").inner_text()) == {"greeting": "Hello, Ada"}
