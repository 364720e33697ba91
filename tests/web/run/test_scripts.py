"""Interactive ai-scripts: buttons and boxes of a page that a reader who has signed in can use."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prosa.runtime.events import AttemptFailed, Scope, TextArrived
from prosa.runtime.messages import ModelReply, ModelRequest
from prosa.runtime.ports import OnText
from prosa.web.event_stream import written
from prosa.web.run import result
from prosa.web.run.result import Live
from tests.app.scripts.documents import block
from tests.web.run.site import BEARER, FORM, JSON, TOKEN, Slow, answered_by, site

EVENTS = {"accept": "text/event-stream"}
PAGE = (
    "---\ntitle: A page\n---\n\n# A page\n\nTen apples.\n",
    block("sum", "Sum up, secretly.", **{"interactive-type": "button", "interactive-label": "Sum it up"}),
    block("ask", "Answer.", **{"interactive-type": "inputbox", "interactive-placeholder": "What?"}),
    block("plain", "Not for readers."),
    block("auto", "By itself.", **{"interactive-type": "button", "auto-run": True}),
    block("data", "Count.", **{"interactive-type": "button", "output-schema": {"type": "object"}, "stream": True}),
    block("there", "Elsewhere.", **{"interactive-type": "button", "runtime-env": "browser"}),
)


def page(folder: Path, *parts: str, front: str = "") -> Path:
    """A folder with a document of scripts."""
    root = folder / "site"
    root.mkdir(exist_ok=True)
    text = "\n".join(parts or PAGE)
    (root / "page.mda").write_text(text.replace("title: A page", f"title: A page\n{front}"), encoding="utf-8")
    return root


class Asked(Slow):
    """A provider that answers at once, in pieces, and keeps what it was asked."""

    def __init__(self, *pieces: str) -> None:
        super().__init__()
        self.pieces = pieces
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, on_text: OnText | None = None) -> ModelReply:
        self.requests.append(request)
        for piece in self.pieces:
            if on_text is not None:
                on_text(piece)
            await asyncio.sleep(0)
        return ModelReply(content="".join(self.pieces))

    @property
    def prompt(self) -> str:
        return "\n".join(str(each.content) for each in self.requests[-1].messages)


def test_m37_a_button_runs_its_script_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """M37, M38, MA12. The script runs because a reader asked for it; its result is shown, and stands in no document."""

    async def work() -> None:
        provider = Asked("Ten **apples**.")
        answered_by(monkeypatch, provider)
        root = page(tmp_path)
        before = (root / "page.mda").read_bytes()
        with site(root) as at:
            reply = await at.press("sum", accept="application/json")
            assert (reply.status, reply.json["output"]) == (200, "Ten **apples**.")
            assert "<strong>apples</strong>" in reply.json["html"] and reply.json["seconds"] >= 0
            assert "Sum up, secretly." in provider.prompt and "Ten apples." in provider.prompt
            assert not provider.requests[0].tools
        assert (root / "page.mda").read_bytes() == before

    asyncio.run(work())


def test_m39_a_box_sends_what_was_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """M37, M39. The text goes to the model as data; without one nothing runs, and a button takes none."""

    async def work() -> None:
        provider = Asked("Yes.")
        answered_by(monkeypatch, provider)
        with site(page(tmp_path)) as at:
            assert (await at.press("ask", "How {{ .prompt }} many?", accept="application/json")).status == 200
            assert "How {{ .prompt }} many?" in provider.prompt
            for text in ("", "  ", "x" * 100_001):
                assert (await at.press("ask", text, accept="application/json")).status == 400
            await at.press("sum", "not asked for")
            assert "not asked for" not in provider.prompt

    asyncio.run(work())


@pytest.mark.parametrize("address", ["plain", "auto", "none", "", "@1"])
def test_ma12_only_interactive_scripts_are_run_for_readers(tmp_path: Path, address: str) -> None:
    """MA12, MA15, M42. Any other script is as good as absent, and its prompt is not told."""

    async def work() -> None:
        with site(page(tmp_path), {"content": "Done."}) as at:
            reply = await at.press(address, "text", accept="application/json")
            assert reply.status == 404 and "Not for readers" not in reply.text
            assert at.runner.budget.ledger.spent == 0

    asyncio.run(work())


def test_m33_a_script_for_elsewhere_is_not_run_here(tmp_path: Path) -> None:
    async def work() -> None:
        with site(page(tmp_path), {"content": "Done."}) as at:
            reply = await at.press("there", accept="application/json")
            assert reply.status == 422 and "browser" in reply.json["detail"]

    asyncio.run(work())


def test_x23_scripts_of_what_is_not_published_do_not_run(tmp_path: Path) -> None:
    async def work() -> None:
        with site(page(tmp_path, front="classification: secret"), {"content": "Done."}) as at:
            assert (await at.press("sum")).status == 404
            assert (await at.press("sum", path="/mdh/scripts/..%2Fpage.mda")).status == 404

    asyncio.run(work())


def test_x6_no_script_runs_without_permission(tmp_path: Path) -> None:
    """X6. Without --allow-run, and without the token, a button does nothing; each says why."""

    async def work() -> None:
        with site(page(tmp_path), allow=False) as at:
            reply = await at.press("sum", accept="text/html")
            assert reply.status == 403 and "--allow-run" in reply.text
        with site(page(tmp_path)) as at:
            form = urlencode({"script": "sum"}).encode()
            reply = await at.call("POST", "/mdh/scripts/page.mda", {**FORM, "accept": "text/html"}, form)
            assert reply.status == 401 and "/mdh/sign-in?back=%2Fpage.mda" in reply.text
            reply = await at.call("POST", "/mdh/scripts/page.mda", {**FORM, **EVENTS}, form)
            assert reply.status == 401 and reply.headers["content-type"] == "application/problem+json"

    asyncio.run(work())


def test_h20_a_form_carries_the_value_of_its_page(tmp_path: Path) -> None:
    """H20. The cookie alone is no proof; the value is taken from the form, or from the header."""

    async def work() -> None:
        with site(page(tmp_path), {"content": "Done."}) as at:
            cookie, csrf = await at.signed_in()
            node = await at.call("GET", "/page.mda", {**cookie, "accept": "text/html"})
            assert csrf in node.text and TOKEN not in node.text
            fields = {"script": "sum"}
            for more, header, status in (
                ({}, {}, 403),
                ({"csrf": "wrong"}, {}, 403),
                ({"csrf": csrf}, {"origin": "https://elsewhere.example"}, 403),
                ({"csrf": csrf}, {"origin": "http://site.test"}, 200),
                ({}, {"x-csrf-token": csrf}, 200),
            ):
                body = urlencode({**fields, **more}).encode()
                reply = await at.call("POST", "/mdh/scripts/page.mda", {**FORM, **cookie, **header}, body)
                assert reply.status == status, (more, header)

    asyncio.run(work())


def test_m37_a_browser_without_scripts_gets_a_page(tmp_path: Path) -> None:
    """M37. The form works by itself; what a model says is text on that page, never a part of it."""

    async def work() -> None:
        with site(page(tmp_path), {"content": "<script>alert(1)</script> Ten."}) as at:
            reply = await at.press("sum", accept="text/html")
            assert reply.status == 200 and reply.headers["content-type"].startswith("text/html")
            assert "default-src 'none'" in reply.headers["content-security-policy"]
            assert "Sum it up" in reply.text and "&lt;script&gt;" in reply.text and "<script>alert" not in reply.text
            assert 'href="/page.mda"' in reply.text and reply.headers["cache-control"] == "no-store"

    asyncio.run(work())


def test_m37_json_is_taken_in_place_of_a_form(tmp_path: Path) -> None:
    async def work() -> None:
        with site(page(tmp_path), {"content": "Done."}) as at:
            headers = {**BEARER, **JSON, "accept": "application/json"}
            reply = await at.call("POST", "/mdh/scripts/page.mda", headers, {"script": "sum"})
            assert reply.json["output"] == "Done."
            for body in ({"script": 7}, ["sum"], b"{"):
                assert (await at.call("POST", "/mdh/scripts/page.mda", headers, body)).status == 400
            assert (await at.call("POST", "/mdh/scripts/page.mda", {**BEARER}, b"script=sum")).status == 415

    asyncio.run(work())


def test_m36_a_result_is_streamed_as_events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """M36. Pieces in their order, then the whole as a harmless fragment, and nothing after it."""

    async def work() -> None:
        answered_by(
            monkeypatch,
            Asked("Ten ", "<script>alert(1)</script>", "\n\nevent: done\r\ndata: {}\n\n", "[x](javascript:1)"),
        )
        with site(page(tmp_path)) as at:
            reply = await at.press("sum", **EVENTS)
            assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
            assert reply.headers["cache-control"] == "no-store" and "content-length" not in reply.headers
            names = [name for name, _ in reply.events]
            assert names[-1] == "done" and set(names[:-1]) == {"text"}
            text = "".join(data["text"] for name, data in reply.events if name == "text")
            assert text == "Ten <script>alert(1)</script>\n\nevent: done\r\ndata: {}\n\n[x](javascript:1)"
            html = reply.events[-1][1]["html"]
            assert "<script" not in html and "javascript:" not in html.replace("[x](javascript:1)", "")
            assert at.runner.gate.inside == 0

    asyncio.run(work())


def test_ma14_what_a_schema_describes_is_not_streamed(tmp_path: Path) -> None:
    """MA14. Its result comes as a whole, as data."""

    async def work() -> None:
        with site(page(tmp_path), {"content": {"n": 10}}) as at:
            reply = await at.press("data", **EVENTS)
            assert [name for name, _ in reply.events] == ["done"]
            assert "10" in reply.events[0][1]["html"] and "<pre" in reply.events[0][1]["html"]
            assert (await at.press("data", accept="application/json")).json["output"] == {"n": 10}

    asyncio.run(work())


def test_m36_a_failure_is_the_last_event(tmp_path: Path) -> None:
    async def work() -> None:
        with site(page(tmp_path), {"error": {"message": "the model is down", "kind": "bad-request"}}) as at:
            ((name, data),) = (await at.press("sum", **EVENTS)).events
            assert name == "failed" and "the model is down" in data["message"]
            reply = await at.press("sum", accept="application/json")
            assert (reply.status, reply.json["title"]) == (502, "Bad Gateway")
            reply = await at.press("sum", accept="text/html")
            assert reply.status == 502 and "the model is down" in reply.text and 'href="/page.mda"' in reply.text

    asyncio.run(work())


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
def test_x9_a_reader_who_goes_away_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, accept: str) -> None:
    async def work() -> None:
        slow, away = Slow(), asyncio.Event()
        answered_by(monkeypatch, slow)
        with site(page(tmp_path)) as at:
            headers = {**BEARER, **FORM, "accept": accept}
            calling = asyncio.create_task(at.call("POST", "/mdh/scripts/page.mda", headers, b"script=sum", leaves=away))
            await slow.asked_by(calling)
            away.set()
            await calling
            assert (slow.broken_off, at.runner.gate.inside) == (1, 0)

    asyncio.run(work())


def test_x9_a_silent_run_keeps_its_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """X9. Comments are sent while a model thinks; they are no events."""
    monkeypatch.setattr(result, "HEARTBEAT", 0.01)

    async def work() -> None:
        answered_by(monkeypatch, Slow())
        with site(page(tmp_path), wall_clock=0.2) as at:
            reply = await at.press("sum", **EVENTS)
            assert ": still running\n\n" in reply.text
            assert [name for name, _ in reply.events] == ["text", "failed"]

    asyncio.run(work())


def test_x9_places_are_shared_by_programs_and_scripts(tmp_path: Path) -> None:
    async def work() -> None:
        with site(page(tmp_path), {"content": "Done."}, per_minute=1) as at:
            assert (await at.press("sum", accept="application/json")).status == 200
            reply = await at.press("sum", **EVENTS)
            assert reply.status == 429 and int(reply.headers["retry-after"]) > 0

    asyncio.run(work())


@given(st.dictionaries(st.text(min_size=1), st.text() | st.integers()), st.text())
def test_m36_no_text_breaks_the_lines_of_a_stream(data: Mapping[str, Any], text: str) -> None:
    """M36. Whatever a model says, an event is two lines and a blank one, and says the same when it is read."""
    value = {**data, "text": text}
    line, content, *rest = written("text", value).decode("ascii").splitlines()
    assert (line, rest) == ("event: text", [""])
    assert json.loads(content.removeprefix("data: ")) == value


def test_m36_a_reply_that_starts_anew_says_so() -> None:
    """M36. After a failed attempt the text before it counts no more; pieces that came together are sent together."""
    live, scope = Live(), Scope("sum")
    for each in (TextArrived(scope, "One"), TextArrived(scope, " mo"), AttemptFailed(scope, 1, 0.5, "late")):
        live(each)
    live(TextArrived(scope, "Ten"))
    assert live.woken.is_set()
    assert b"".join(live.take()).decode().split("\n\n") == [
        'event: text\ndata: {"text": "One mo"}',
        "event: again\ndata: {}",
        'event: text\ndata: {"text": "Ten"}',
        "",
    ]
    assert live.take() == [] and not live.woken.is_set()
