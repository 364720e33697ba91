"""The token once in a form, a cookie from then on."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from prosa.web import context
from prosa.web.application import reader_of
from prosa.web.context import Attempts, Sessions
from prosa.web.run import sign_in
from prosa.web.run.problem import Refused
from prosa.web.run.sign_in import safe_back
from tests.web.run.site import BEARER, FORM, JSON, TOKEN, greeting, site


def form(**fields: str) -> bytes:
    """A form as a browser sends it."""
    return urlencode(fields).encode()


def test_h12_the_token_gives_a_session(tmp_path: Path) -> None:
    """H12, X23. The cookie is kept from scripts and other sites, leads back, and does not hold the token."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            asked = await at.call("GET", "/mdh/sign-in?back=/greet", {"accept": "text/html"})
            assert asked.status == 200 and 'value="/greet"' in asked.text
            assert asked.headers["cache-control"] == "no-store"
            reply = await at.call("POST", "/mdh/sign-in", FORM, form(token=TOKEN, back="/greet"))
            assert (reply.status, reply.headers["location"]) == (303, "/greet")
            cookie = reply.headers["set-cookie"]
            assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and TOKEN not in cookie
            node = await at.call("GET", "/greet", {"cookie": cookie.partition(";")[0], "accept": "text/html"})
            assert node.status == 200

    asyncio.run(work())


def test_h12_wrong_tokens_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """H12. After five in a minute no further one is looked at, not even the right one; nothing shows what was tried."""
    monkeypatch.setattr(sign_in, "WRONG_SECONDS", 0)

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            for _ in range(5):
                reply = await at.call("POST", "/mdh/sign-in", FORM, form(token="guess-it", back="/greet"))
                assert reply.status == 403 and "set-cookie" not in reply.headers
                assert "guess-it" not in reply.text and 'value="/greet"' in reply.text
            reply = await at.call("POST", "/mdh/sign-in", FORM, form(token=TOKEN))
            assert reply.status == 429 and 0 < int(reply.headers["retry-after"]) <= 60
            at.app.log.flush()  # type: ignore[union-attr]
            assert not any(word in "\n".join(at.logged) for word in ("guess-it", TOKEN))

    asyncio.run(work())


def test_h12_a_token_in_a_url_signs_nobody_in(tmp_path: Path) -> None:
    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            reply = await at.call("GET", f"/mdh/sign-in?token={TOKEN}", {"accept": "text/html"})
            assert "set-cookie" not in reply.headers and TOKEN not in reply.text

    asyncio.run(work())


def test_h20_another_site_signs_nobody_in_or_out(tmp_path: Path) -> None:
    """H20. A form of another origin is refused, and so is a sign-out that no page of this site made."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            foreign = {**FORM, "origin": "https://elsewhere.example"}
            assert (await at.call("POST", "/mdh/sign-in", foreign, form(token=TOKEN))).status == 403
            cookie, csrf = await at.signed_in()
            assert (await at.call("POST", "/mdh/sign-out", {**FORM, **cookie}, form())).status == 403
            reply = await at.call("POST", "/mdh/sign-out", {**FORM, **cookie}, form(csrf=csrf, back="/greet"))
            assert (reply.status, reply.headers["location"]) == (303, "/greet")
            assert "Max-Age=0" in reply.headers["set-cookie"]
            assert (await at.call("GET", "/mdh/sign-out")).status == 405

    asyncio.run(work())


def test_x9_the_form_is_small(tmp_path: Path) -> None:
    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            assert (await at.call("POST", "/mdh/sign-in", FORM, b"token=" + b"x" * 20_000)).status == 413
            assert (await at.call("POST", "/mdh/sign-in", FORM, b"a=1&" * 40)).status == 400

    asyncio.run(work())


@pytest.mark.parametrize(
    ("given_back", "prefix", "found"),
    [
        ("/greet", "", "/greet"),
        ("/a/b?c=1#d", "", "/a/b?c=1#d"),
        ("/é", "", "/%C3%A9"),
        ("//elsewhere.example", "", "/"),
        ("/\\elsewhere.example", "", "/"),
        ("/\t/elsewhere.example", "", "/"),
        ("https://elsewhere.example", "", "/"),
        ("javascript:1", "", "/"),
        ("", "", "/"),
        ("/docs/greet", "/docs", "/docs/greet"),
        ("/other", "/docs", "/docs/"),
        ("/docsother", "/docs", "/docs/"),
        ("/" + "x" * 3000, "", "/"),
    ],
)
def test_h20_the_way_back_stays_on_this_site(given_back: str, prefix: str, found: str) -> None:
    assert safe_back(given_back, prefix) == found


@given(st.text(alphabet=st.sampled_from("/\\\t\r\n .:@?#ax%é\u2028")) | st.text())
@example("/\r\nset-cookie: a=b")
def test_h20_no_way_back_leaves_this_site_or_its_header(given_back: str) -> None:
    found = safe_back(given_back)
    assert found.startswith("/") and not found.startswith(("//", "/\\"))
    assert found.isascii() and found.isprintable() and " " not in found


def test_h12_an_ipv6_network_is_one_client() -> None:
    """H12. A host has more addresses than anybody could count wrong tokens for; other networks are not locked out."""
    attempts = Attempts(most=2, now=lambda: 0.0)
    attempts.failed("2001:db8::1")
    attempts.failed("2001:db8::2")
    with pytest.raises(Refused):
        attempts.require("2001:db8::3")
    attempts.require("2001:db8:0:1::1")
    attempts.require("203.0.113.9")


def test_h12_wrong_tokens_are_forgotten_after_a_minute() -> None:
    moments = iter([0.0, 0.0, 59.0, 60.0])
    attempts = Attempts(most=2, now=lambda: next(moments))
    attempts.failed("a")
    attempts.failed("a")
    with pytest.raises(Refused) as refused:
        attempts.require("a")
    assert dict(refused.value.headers) == {"retry-after": "1"}
    attempts.require("a")


def test_h20_x23_signing_out_ends_the_session(tmp_path: Path) -> None:
    """H20, X23. A cookie that somebody has kept is worth nothing then; other sessions go on."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            cookie, csrf = await at.signed_in()
            other, _ = await at.signed_in()
            assert (await at.call("POST", "/mdh/sign-out", {**FORM, **cookie}, form())).status == 403
            assert at.web.sessions.reader(scope_of(cookie)).signed_in
            assert (await at.call("POST", "/mdh/sign-out", {**FORM, **cookie}, form(csrf=csrf))).status == 303
            assert not at.web.sessions.reader(scope_of(cookie)).signed_in
            reply = await at.call("POST", "/mdh/run/greet", {**JSON, **cookie, "x-csrf-token": csrf}, {"name": "Ada"})
            assert reply.status == 401
            assert at.web.sessions.reader(scope_of(other)).signed_in

    asyncio.run(work())


def scope_of(cookie: dict[str, str]) -> dict[str, list[tuple[bytes, bytes]]]:
    """The part of a request that has a cookie."""
    return {"headers": [(b"cookie", cookie["cookie"].encode())]}


def test_x9_ended_sessions_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """X9. The oldest beyond a bound, and all whose time is over: they would not hold anyway."""
    monkeypatch.setattr(context, "MAX_ENDED", 2)
    sessions = Sessions(TOKEN)
    cookies = [{"cookie": sessions.cookie().partition(";")[0]} for _ in range(3)]
    for cookie in cookies:
        sessions.end(scope_of(cookie))
    sessions.end({"headers": [(b"cookie", b"prosa-session=a.99999999999.b")]})
    assert [sessions.reader(scope_of(each)).signed_in for each in cookies] == [True, False, False]
    later = time.time() + context.LIFETIME + 1
    monkeypatch.setattr(context.time, "time", lambda: later)
    sessions.end({"headers": []})
    assert not sessions._ended


GUESS = {"authorization": "Bearer guess-it"}


def test_x23_guesses_in_a_header_are_counted(tmp_path: Path) -> None:
    """X23, H12. As those in the form are: after five in a minute no token of the client is compared, in either place;
    who comes from elsewhere, or with a cookie, notices nothing."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            cookie, _ = await at.signed_in()
            for _ in range(4):
                assert (await at.call("GET", "/greet", GUESS)).status == 200
            assert (await at.call("GET", "/greet", {**GUESS, "host": "elsewhere.example"})).status == 421
            compared: list[str] = []
            with patch.object(Sessions, "knows", lambda _self, token: bool(compared.append(token))):
                for path in ("/greet", "/mdh/run/greet", "/mdh/sign-in", "/healthz"):
                    reply = await at.call("GET", path, BEARER)
                    assert reply.status == 429 and 0 < int(reply.headers["retry-after"]) <= 60
                    assert reply.headers["cache-control"] == "no-store"
                assert (await at.call("POST", "/mdh/sign-in", FORM, form(token=TOKEN))).status == 429
            assert compared == []
            assert (await at.call("GET", "/greet", cookie)).status == 200
            assert (await at.call("GET", "/greet")).status == 200
            assert (await at.call("GET", "/greet", {"authorization": "Basic eDp5"})).status == 200
            assert reader_of(at.web, {"client": ("198.51.100.7", 1), **bearer()}).via == "bearer"

    asyncio.run(work())


def bearer() -> dict[str, list[tuple[bytes, bytes]]]:
    """The part of a request that shows the token."""
    return {"headers": [(b"authorization", f"Bearer {TOKEN}".encode())]}


def test_x23_a_right_token_is_not_counted(tmp_path: Path) -> None:
    """X23. Programs show theirs with every request."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            assert {(await at.call("GET", "/greet", BEARER)).status for _ in range(8)} == {200}

    asyncio.run(work())


def test_x23_a_site_without_a_token_looks_at_none(tmp_path: Path) -> None:
    """X23. There is nothing to guess."""

    async def work() -> None:
        with site(greeting(tmp_path)) as at:
            at.app.web = replace(at.web, sessions=Sessions(""))
            assert {(await at.call("GET", "/greet", GUESS)).status for _ in range(8)} == {200}

    asyncio.run(work())


def test_x23_tokens_of_your_own_api_are_its_own(tmp_path: Path) -> None:
    """X23. Below /api of an open site they are neither compared nor counted; on a closed one they are the site's."""

    async def work() -> None:
        with site(greeting(tmp_path), prefix="/docs") as at:
            at.app.api = _api
            for path in ("/api", "/api/boats", "/docs/api"):
                assert {(await at.call("GET", path, GUESS)).status for _ in range(8)} == {204}
            assert (await at.call("GET", "/docs/greet", GUESS)).status == 200
            at.app.web = replace(at.web, closed=True)
            assert [(await at.call("GET", "/api", GUESS)).status for _ in range(5)] == [401] * 4 + [429]

    asyncio.run(work())


async def _api(_scope: object, _receive: object, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})
