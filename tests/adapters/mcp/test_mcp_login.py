"""X18, X8: `prosa login` at a server that is as strict as the strictest, and what programs do with the login."""

from __future__ import annotations

import json
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prosa.adapters.files.login_store import LoginStore
from prosa.runtime.login import Login, OAuthClient
from tests.adapters.mcp.servers.authorizing import Place, authorizing, browse
from tests.cli.desk import Desk
from tests.cli.programs import prosa, script

PROGRAM = """\
---
name: teller
description: asks a server
input: {{type: object}}
output: {{type: object}}
mcp_servers:
  - name: closed
    url: {url}
---
Ask.
"""


class User:
    """A user at a terminal with a browser, whose data is in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        names = {"PROSA_DATA_DIR": "data", "PROSA_CONFIG_DIR": "config", "PROSA_CACHE_DIR": "cache", "HOME": "home"}
        self.environ = {name: str(folder / value) for name, value in names.items()} | {"DISPLAY": ":0"}
        self.environ["MARKDOWNLANG_AGREE"] = "Trans rights are human rights"

    def login(self, url: str, *argv: str, typed: str = "y\n", terminal: bool = True) -> tuple[int, Desk]:
        return prosa("login", url, "--allow-private", *argv, environ=self.environ, typed=typed, terminal=terminal)

    def run(self, url: str, *argv: str) -> tuple[int, Desk]:
        program = self.folder / "teller.md"
        program.write_text(PROGRAM.format(url=url))
        call = {"name": "mcp__closed__tell", "arguments": {}, "id": "1"}
        model = script(self.folder, {"tool_calls": [call]}, {"content": {"done": True}})
        return prosa("run", program, "--model", model, *argv, environ=self.environ)

    @property
    def file(self) -> Path:
        return self.data / "logins.json"

    @property
    def stored(self) -> Login | None:
        return next(iter(LoginStore(self.environ).listed()), None)

    def leaked(self, place: Place, *texts: str) -> list[str]:
        """The secrets that are in a text, or in a file other than that of the logins."""
        files = [each for each in self.folder.rglob("*") if each.is_file() and each != self.file]
        every = [*(each.encode() for each in texts), *(each.read_bytes() for each in files)]
        return [secret for secret in place.every if any(secret.encode() in each for each in every)]


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr("webbrowser.open", browse)
    return User(tmp_path)


@pytest.fixture
def place() -> Iterator[Place]:
    with authorizing() as made:
        yield made


def test_x18_a_login_opens_a_server_and_no_output_shows_it(user: User, place: Place):
    status, at = user.login(place.url)
    assert status == 0, at.err
    assert f"{place.server} has its logins at {place.issuer}" in at.err
    assert at.out == f"logged in: {place.url} at {place.issuer}, for read, renewed as it is used\n"
    assert user.stored is not None and user.stored.resource == place.url
    assert stat.S_IMODE(user.file.stat().st_mode) == 0o600

    done, ran = user.run(place.url, "--record", str(user.folder / "tape"), "--events", "jsonl")
    assert done == 0, ran.err
    assert any("you sent Bearer ***" in each.read_text() for each in (user.folder / "tape").rglob("*.ymj*"))
    assert user.leaked(place, at.out, at.err, ran.out, ran.err) == []


def test_x18_without_a_terminal_another_origin_needs_a_yes(user: User, place: Place):
    status, at = user.login(place.url, terminal=False)
    assert status == 2 and "no terminal" in at.err and "--yes" in at.err
    status, at = user.login(place.url, typed="n\n")
    assert status == 1 and "nothing was stored" in at.err
    assert not place.paths("issuer") and user.stored is None


def test_x18_x43_a_login_as_data(user: User, place: Place):
    status, at = user.login(place.url, "--yes", "--format", "json")
    assert status == 0
    found = json.loads(at.out)
    assert list(found) == ["server", "resource", "issuer", "scope", "expires", "renews"] and found["renews"]
    status, at = prosa("login", "--format", "json", environ=user.environ)
    assert json.loads(at.out) == [found]
    status, at = user.login(f"{place.server}/nothing", "--format", "json")
    error = json.loads(at.err.splitlines()[-1])
    assert (status, error["error"]) == (1, "login-failed") and "no MCP server" in error["message"]


def test_x18_a_token_that_ended_is_renewed_in_a_run(user: User, place: Place):
    place.lifetime = 10  # less than the slack: it is renewed before each request
    assert user.login(place.url)[0] == 0
    first = user.stored
    done, ran = user.run(place.url)
    assert done == 0, ran.err
    assert user.stored is not None and first is not None and user.stored.access_token != first.access_token
    assert user.leaked(place, ran.out, ran.err) == []
    assert {form["resource"] for name, path, form in place.asked if path == "POST /token"} == {place.url}


def test_x18_a_token_that_was_withdrawn_is_renewed_once(user: User, place: Place):
    assert user.login(place.url)[0] == 0
    place.access.clear()
    assert user.run(place.url)[0] == 0
    assert len([path for path in place.paths("issuer") if path == "POST /token"]) == 2


def test_x18_a_login_that_is_over_is_told_as_that(user: User, place: Place):
    assert user.login(place.url)[0] == 0
    place.access.clear()
    place.refresh.clear()
    done, ran = user.run(place.url)
    assert done == 1 and f"prosa login {place.url}" in ran.err and "HTTP status 401" in ran.err
    assert user.leaked(place, ran.out, ran.err) == []


def test_x18_a_server_that_wants_a_login_names_the_command(user: User, place: Place):
    done, ran = user.run(place.url)
    assert done == 1 and f"prosa login {place.url}" in ran.err and "token-env" in ran.err


def test_x18_runs_that_renew_at_once_lose_nothing(user: User, place: Place):
    """The refresh token is good for one use, and a second use ends the login."""
    from prosa.app.login.renewal import login_credential

    place.lifetime = 10
    assert user.login(place.url)[0] == 0
    place.lifetime = 3600
    barrier, ends = threading.Barrier(4), []

    def work() -> None:
        import asyncio

        credential = login_credential(place.url, user.environ)
        assert credential is not None and credential.renewal is not None
        barrier.wait()
        asyncio.run(credential.renewal.before())
        ends.append(credential.headers["Authorization"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert len(ends) == 4 and len(set(ends)) == 1
    assert ends[0].removeprefix("Bearer ") in place.access
    assert len([path for path in place.paths("issuer") if path == "POST /token"]) == 2


def test_x18_a_login_by_code(user: User, place: Place, monkeypatch: pytest.MonkeyPatch):
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("prosa.adapters.mcp.oauth.anyio.sleep", sleep)
    status, at = user.login(place.url, "--device", "--no-browser")
    assert status == 0, at.err
    assert f"Enter the code WDJB-MJHT at\n  {place.issuer}/enter" in at.err
    assert waited == [1.0, 6.0]
    assert user.run(place.url)[0] == 0
    assert user.leaked(place, at.out, at.err) == []


def test_x18_more_rights_are_asked_for(user: User, place: Place):
    place.resource_said = {"scopes_supported": ["read"]}
    assert user.login(place.url)[0] == 0
    place.scope = "read write"
    done, ran = user.run(place.url)
    assert done == 1 and f"prosa login {place.url} --scope 'read write'" in ran.err, ran.err
    status, at = user.login(place.url, "--scope", "read write")
    assert status == 0, at.err
    assert user.run(place.url)[0] == 0


def test_x18_a_call_that_needs_more_rights_names_the_command(user: User, place: Place):
    """A run opens no browser: the user decides."""
    place.call_scope = "write"
    assert user.login(place.url)[0] == 0
    done, ran = user.run(place.url, "--record", str(user.folder / "tape"))
    assert done == 0, ran.err
    recording = "".join(each.read_text() for each in (user.folder / "tape").rglob("*") if each.is_file())
    assert f"prosa login {place.url} --scope 'read write'" in recording


def test_x18_a_server_that_closes_its_tools_alone(user: User, place: Place):
    place.open = frozenset({"initialize", "notifications/initialized"})
    status, at = user.login(place.url)
    assert status == 0, at.err
    place.open |= {"tools/list"}
    status, at = user.login(place.url)
    assert status == 1 and "asks for no login" in at.err


def test_x18_a_client_of_the_settings(user: User, place: Place):
    place.clients["mine"] = {"client_secret": "s3cr3t-of-mine", "redirect_uris": ["http://127.0.0.1:47113/callback"]}
    place.every.add("s3cr3t-of-mine")
    (user.folder / "config").mkdir()
    settings = f'[servers."{place.server}"]\nclient-id = "mine"\nclient-secret-env = "MINE"\n'
    (user.folder / "config" / "settings.toml").write_text(settings)
    status, at = user.login(place.url, "--port", "47113")
    assert status == 1 and "MINE: there is no such variable" in at.err
    user.environ["MINE"] = "s3cr3t-of-mine"
    status, at = user.login(place.url, "--port", "47113")
    assert status == 0, at.err
    assert "POST /register" not in place.paths("issuer")
    assert user.leaked(place, at.out, at.err) == []


def test_x18_a_server_without_public_clients(user: User, place: Place):
    """It issues a secret at the registration, which a renewal needs too."""
    place.said = {"token_endpoint_auth_methods_supported": ["client_secret_basic"]}
    place.lifetime = 10
    assert user.login(place.url)[0] == 0
    assert user.run(place.url)[0] == 0
    assert user.stored is not None and user.stored.client.method == "client_secret_basic"


def test_x18_a_logout_revokes_and_deletes(user: User, place: Place):
    assert user.login(place.url)[0] == 0
    status, at = prosa("logout", place.url, environ=user.environ)
    assert status == 0 and "revoked and deleted" in at.out
    assert user.stored is None and not place.access and not place.refresh
    status, at = prosa("logout", place.url, environ=user.environ)
    assert status == 1 and "there is no login" in at.err


def test_x18_a_logout_deletes_where_nothing_is_revoked(user: User, place: Place):
    place.rules["/revoke"] = lambda each: each.say(503) or True
    assert user.login(place.url)[0] == 0
    status, at = prosa("logout", place.url, "--format", "json", environ=user.environ)
    assert status == 1 and json.loads(at.out)["revoked"] is False and "may still be good" in at.err
    assert user.stored is None


def test_x18_a_token_goes_to_its_resource_alone():
    login = Login("https://h.example/a/mcp", "https://h.example/a", "i", "t", OAuthClient("c"), "secret-token")
    for url in ("https://h.example/a/mcp", "https://h.example/a", "https://h.example/a/b?c", "https://H.example:443/a"):
        assert login.covers(url), url
    for url in (
        "https://h.example/ab",
        "https://h.example/",
        "http://h.example/a/mcp",
        "https://h.example:8443/a/mcp",
        "https://h.example.evil/a/mcp",
        "https://h.example@evil/a/mcp",
        "https://h.example/a/../b",
        "https://h.example/a/%2e%2E/b",
    ):
        assert not login.covers(url), url
    assert "secret-token" not in repr(login)


# ---- servers that cheat ----


def refused(user: User, place: Place, *words: str, **options: Any) -> str:
    """What a login says that fails; nothing may be stored, and nothing leaked."""
    status, at = user.login(place.url, **options)
    assert status == 1, at.out
    for each in words:
        assert each in at.err, at.err
    assert "internal error" not in at.err and not user.file.exists()
    assert user.leaked(place, at.out, at.err) == []
    return at.err


def test_x8_metadata_at_another_origin_is_not_asked(user: User, place: Place):
    said = f'Bearer resource_metadata="{place.issuer}/prm"'
    place.rules["/mcp"] = lambda each: each.say(401, WWW_Authenticate=said) or True
    refused(user, place, f"{place.server} names {place.issuer} for its metadata", "no request is sent there")
    assert place.paths("issuer") == []


def test_x8_a_private_address_needs_permission(user: User, place: Place):
    status, at = prosa("login", place.url, "--yes", environ=user.environ)
    assert status == 1 and "private or loopback address" in at.err and "--allow-private" in at.err
    assert place.paths("issuer") == []


@pytest.mark.parametrize("issuer", ["http://login.example.org", "http://10.0.0.1", "https://a:b@login.example.org"])
def test_x8_an_authorization_server_in_the_open_is_refused(user: User, place: Place, issuer: str):
    place.resource_said = {"authorization_servers": [issuer]}
    refused(user, place)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("authorization_endpoint", "/authorize"),
        ("token_endpoint", "/token"),
        ("registration_endpoint", "/register"),
    ],
)
def test_x8_an_endpoint_at_another_origin_is_refused(user: User, place: Place, name: str, path: str):
    """A mix-up: the code of an honest server would go to another (RFC 9700, 4.4)."""
    place.said = {name: f"{place.server}{path}"}
    refused(user, place, "names an endpoint at", "--allow-origin")
    assert f"GET {path}" not in place.paths("server") and f"POST {path}" not in place.paths("server")


def test_x8_a_device_endpoint_at_another_origin_is_refused(user: User, place: Place):
    place.said = {"device_authorization_endpoint": f"{place.server}/device"}
    status, at = user.login(place.url, "--device")
    assert status == 1 and "names an endpoint at" in at.err


def test_x18_a_forged_issuer_is_refused(user: User, place: Place):
    place.said = {"issuer": "https://honest.example"}
    refused(user, place, "issuer mismatch")


def test_x18_a_resource_of_another_server_is_refused(user: User, place: Place):
    place.resource_said = {"resource": "https://other.example/mcp"}
    refused(user, place, "does not match")


def test_x18_a_server_without_pkce_is_refused(user: User, place: Place):
    for methods in (None, ["plain"]):
        place.said = {"code_challenge_methods_supported": methods}
        refused(user, place, "PKCE")


@pytest.mark.parametrize("path", ["/mcp", "/.well-known/oauth-authorization-server", "/token", "/register"])
def test_x8_a_redirect_to_another_origin_is_refused(user: User, place: Place, path: str):
    place.rules[path] = lambda each: each.say(307, Location="http://192.0.2.1/x") or True
    refused(user, place, "redirects to http://192.0.2.1, which is another origin")


@pytest.mark.parametrize("path", ["/.well-known/oauth-authorization-server", "/token"])
def test_x8_redirects_without_an_end(user: User, place: Place, path: str):
    place.rules[path] = lambda each: each.say(307, Location=f"{path}?a") or True
    refused(user, place, "redirects more than 5 times")


@pytest.mark.parametrize("path", ["/.well-known/oauth-authorization-server", "/token"])
def test_x8_a_huge_answer(user: User, place: Place, path: str):
    place.rules[path] = lambda each: each.raw(200, b'{"a": "' + b"x" * 400_000 + b'"}') or True
    refused(user, place, "sent more than")


@pytest.mark.parametrize("body", [b"[]", b"{}", b"\xff", b'{"access_token": 1}', b"[" * 100_000])
def test_x18_an_answer_that_is_no_token(user: User, place: Place, body: bytes):
    place.rules["/token"] = lambda each: each.raw(200, body) or True
    refused(user, place, "failed")


def test_x18_an_error_that_repeats_what_it_was_sent(user: User, place: Place):
    place.rules["/token"] = lambda each: each.say(400, {"error": "invalid_grant", "you": each.form}) or True
    assert "***" in refused(user, place, "invalid_grant")


def callback(answer: dict[str, str]) -> Any:
    """An authorization endpoint that returns something else; None keeps what would be right."""

    def rule(each: Any) -> bool:
        from urllib.parse import urlencode

        right = {"code": "code-x", "state": each.form["state"], "iss": each.place.issuer} | answer
        each.say(302, Location=f"{each.form['redirect_uri']}?{urlencode({k: v for k, v in right.items() if v})}")
        return True

    return rule


def test_x18_a_wrong_state_is_waited_past(user: User, place: Place, monkeypatch: pytest.MonkeyPatch):
    from contextlib import suppress
    from urllib.error import HTTPError

    seen: list[int] = []

    def forged_first(url: str) -> None:
        right = place.rules.pop("/authorize", None)
        place.rules["/authorize"] = callback({"state": "forged"})
        try:
            browse(url)
        except HTTPError as error:
            seen.append(error.code)
        place.rules.pop("/authorize")
        with suppress(HTTPError):
            browse(url)
        assert right is None

    monkeypatch.setattr("webbrowser.open", forged_first)
    assert user.login(place.url)[0] == 0
    assert seen == [400]


def test_x18_an_answer_of_another_issuer_is_refused(user: User, place: Place):
    for iss in ("https://honest.example", ""):
        place.rules["/authorize"] = callback({"iss": iss})
        refused(user, place, "iss")
    assert "POST /token" not in place.paths("issuer")


def test_x18_a_user_who_says_no(user: User, place: Place):
    place.rules["/authorize"] = callback({"code": "", "error": "access_denied", "error_description": "no\x1b[31m"})
    assert "\x1b" not in refused(user, place, "the login was refused: access_denied")


def test_x18_nobody_logs_in(user: User, place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("webbrowser.open", lambda _: None)
    status, at = user.login(place.url, "--timeout", "0.5")
    assert status == 1 and "no login arrived within 0.5 s" in at.err and not user.file.exists()


def test_x18_a_record_of_logins_that_others_may_read_is_refused(user: User, place: Place):
    assert user.login(place.url)[0] == 0
    user.file.chmod(0o644)
    done, ran = user.run(place.url)
    assert done == 1 and "may be read by others" in ran.err and "chmod 600" in ran.err
    user.file.chmod(0o600)
    user.file.write_text('{"logins": [{"server": "x", "access_token": "tok-in-a-broken-file"}]}')
    status, at = user.login(place.url)
    assert status == 1 and "not a record of logins" in at.err and "tok-in" not in at.err


def test_x18_a_login_that_is_interrupted_leaves_nothing(user: User, place: Place, monkeypatch: pytest.MonkeyPatch):
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    for name in ("prosa.cli.login.webbrowser.open", "prosa.adapters.files.login_store.replace_file"):
        with monkeypatch.context() as patch:
            patch.setattr(name, lambda *_, **__: interrupt(""))
            status = user.login(place.url)[0]
        assert status == 130 and user.stored is None
    assert not user.data.exists() or [each.name for each in user.data.rglob("*") if each.is_file()] == []


def test_x18_a_login_that_is_interrupted_keeps_the_one_before(
    user: User, place: Place, monkeypatch: pytest.MonkeyPatch
):
    assert user.login(place.url)[0] == 0
    before = user.file.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
        assert user.login(place.url)[0] == 130
    assert user.file.read_bytes() == before
    assert [each.name for each in user.data.iterdir() if each.is_file()] == ["logins.json"]


def test_x8_a_slow_server_is_not_waited_for(user: User, place: Place):
    done = threading.Event()
    place.rules["/.well-known/oauth-authorization-server"] = lambda each: done.wait(20)
    try:
        refused_in_time(user, place)
    finally:
        done.set()


def refused_in_time(user: User, place: Place) -> None:
    status, at = user.login(place.url, "--timeout", "0.5")
    assert status == 1 and "0.5 s" in at.err and not user.file.exists()


def test_x18_a_plan_and_doctor_know_the_login(user: User, place: Place):
    assert user.login(place.url)[0] == 0
    program = user.folder / "teller.md"
    program.write_text(PROGRAM.format(url=place.url))
    _, at = prosa("plan", program, environ=user.environ)
    assert f"with your login at {place.issuer}" in at.out, at.err
    assert user.leaked(place, at.out, at.err) == []
    _, doctor = prosa("doctor", environ=user.environ)
    assert f"{place.url} at {place.issuer}, for read, renewed as it is used" in doctor.out
    assert user.leaked(place, doctor.out, doctor.err) == []
    LoginStore(user.environ).put(msgspec.structs.replace(user.stored, refresh_token=None, expires=1.0))
    _, doctor = prosa("doctor", environ=user.environ)
    assert "until 1970-01-01T00:00:01+00:00\n" in doctor.out and f"prosa login {place.url}" in doctor.out


def test_x18_a_fixed_token_takes_precedence(user: User, place: Place):
    (user.folder / "config").mkdir()
    assert user.login(place.url)[0] == 0
    place.access["fixed-token"] = "read"
    place.every.add("fixed-token")
    (user.folder / "config" / "settings.toml").write_text(f'[servers."{place.server}"]\ntoken-env = "FIXED"\n')
    user.environ["FIXED"] = "fixed-token"
    before = len(place.asked)
    done, ran = user.run(place.url)
    assert done == 0, ran.err
    assert place.tokens[before:] and set(place.tokens[before:]) <= {"fixed-token"}
    status, at = user.login(place.url)
    assert status == 1 and "send a credential" in at.err and "token-env" in at.err


def test_x18_no_document_names_a_login(user: User, place: Place):
    """Another server at the same origin, and another origin, get nothing of it."""
    assert user.login(place.url)[0] == 0
    from prosa.app.login.renewal import login_credential

    for url in (f"{place.server}/other", f"{place.issuer}/mcp", "https://mcp.example.org/mcp"):
        assert login_credential(url, user.environ) is None


@pytest.mark.parametrize(
    "argv",
    [
        ("ftp://h.example/mcp",),
        ("mcp.example.org",),
        ("https://a:b@h.example/mcp",),
        ("http://h.example/mcp",),
        ("https://h.example/mcp", "--port", "99999999"),
        ("https://h.example/mcp", "--port", "-1"),
        ("https://h.example/mcp", "--scope", 'a" b'),
        ("https://h.example/mcp", "--allow-origin", "https://h.example/x"),
        ("https://h.example/mcp", "--timeout", "0"),
    ],
)
def test_x18_wrong_input_is_refused_before_anything_is_asked(user: User, argv: tuple[str, ...]):
    status, at = prosa("login", *argv, environ=user.environ)
    assert status in (1, 2) and "internal error" not in at.err and not user.data.exists(), at.err
