"""The token once in a form, a cookie from then on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prosa.web.run import sign_in
from prosa.web.run.gate import Attempts
from prosa.web.run.problem import Refused
from prosa.web.run.sign_in import safe_back
from tests.web_run.site import FORM, TOKEN, greeting, site


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
